terraform {
  # Ephemeral variables and write-only attributes, in Terraform as in OpenTofu.
  required_version = ">= 1.11"

  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}
