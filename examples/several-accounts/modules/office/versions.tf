terraform {
  required_version = ">= 1.7"

  required_providers {
    # No configuration_aliases: the module uses one account, and its caller chooses it.
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}
