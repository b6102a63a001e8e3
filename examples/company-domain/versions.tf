terraform {
  # For ephemeral variables and write-only attributes.
  required_version = ">= 1.11"

  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}
