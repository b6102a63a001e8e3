# Run it by hand, and read the plan before you confirm:
#
#   terraform apply -invoke=action.mailhost_change_plan.per_proxy
action "mailhost_change_plan" "per_proxy" {
  config {
    # The action fails if the provider is connected to another account.
    confirm_account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
    plan_id            = "smtp_per_proxy"
  }
}

# Changes the plan at a later date.
action "mailhost_change_plan" "next_year" {
  config {
    confirm_account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
    plan_id            = "smtp_per_proxy"
    effective_date     = "2031-01-01T00:00:00Z"
  }
}
