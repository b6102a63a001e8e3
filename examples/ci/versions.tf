terraform {
  required_version = ">= 1.7"

  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }

  # All jobs must reach the state. This is Terraform's http backend, which GitLab offers
  # for instance; any other remote backend works. The TF_HTTP_… variables set its address
  # and credential, so that no file and no saved plan contains them.
  backend "http" {}
}
