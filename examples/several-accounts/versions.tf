terraform {
  required_version = ">= 1.7"

  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}
