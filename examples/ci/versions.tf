terraform {
  required_version = ">= 1.7"

  required_providers {
    mailhost = {
      source  = "mailhost/mailhost"
      version = ">= 0.1"
    }
  }

  # Where all jobs find the state: here any server of Terraform's http backend,
  # GitLab's own for instance. Its address and credential come from TF_HTTP_… in the
  # environment, so that they are in no file and in no saved plan. Put another backend
  # in its place as you like.
  backend "http" {}
}
