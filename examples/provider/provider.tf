terraform {
  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }
}

# The provider runs the account's API itself and stores the data in .mailhost in the
# working directory. Nothing reaches a real service.
provider "mailhost" {
  embedded = {}
}
