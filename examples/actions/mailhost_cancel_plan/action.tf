# Run it by hand, and read the plan before you confirm:
#
#   terraform apply -invoke=action.mailhost_cancel_plan.at_period_end
action "mailhost_cancel_plan" "at_period_end" {
  config {
    # The action fails if the provider is connected to another account.
    confirm_account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
  }
}

# Cancels the account immediately. It can then be read but not changed.
action "mailhost_cancel_plan" "now" {
  config {
    confirm_account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
    cancel_immediately = true
  }
}
