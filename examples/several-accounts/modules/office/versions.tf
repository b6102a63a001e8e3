terraform {
  required_version = ">= 1.7"

  required_providers {
    # Without configuration_aliases: the module knows one account, its caller says which.
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}
