# Nothing triggers it: run it by hand, and read the plan before you say yes.
#
#   terraform apply -invoke=action.mailhost_cancel_plan.at_period_end
action "mailhost_cancel_plan" "at_period_end" {
  config {
    # Another account than this one is refused, whatever the provider has.
    confirm_account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
  }
}

# Ends the account now: from then on it can be read but not changed.
action "mailhost_cancel_plan" "now" {
  config {
    confirm_account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
    cancel_immediately = true
  }
}
