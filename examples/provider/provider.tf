terraform {
  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}

# The account is part of the provider: it lies in .mailhost in the working
# directory, and nothing reaches a real service.
provider "mailhost" {
  embedded = {}
}
