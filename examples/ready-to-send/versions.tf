terraform {
  required_version = ">= 1.8"

  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}

# To try it. Your own account has provider "mailhost" {} and the variables of the environment.
provider "mailhost" {
  embedded = { fixture = "account.json" }
}
