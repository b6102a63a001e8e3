terraform {
  required_version = ">= 1.11"

  required_providers {
    mailhost = {
      source = "mailhost/mailhost"
    }
  }
}
