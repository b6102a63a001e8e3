# One provider block for each account. Both accounts are embedded here, each in its own
# folder. For remote accounts, pass the credentials in variables, because the
# environment can hold only one:
#
#   provider "mailhost" {
#     alias      = "europe"
#     base_url   = "https://api.mailhost.example"
#     account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
#     token      = var.europe_token # ephemeral = true
#   }
provider "mailhost" {
  alias    = "europe"
  embedded = { data_dir = ".mailhost/europe" }
}

provider "mailhost" {
  alias    = "america"
  embedded = { data_dir = ".mailhost/america" }
}

# There is no provider block without an alias, so each resource has to name its
# provider. One that does not would use a third account, in .mailhost; the plan warns
# of it. Leave MAILHOST_BASE_URL unset.

module "europe" {
  source    = "./modules/office"
  providers = { mailhost = mailhost.europe }

  domain       = "example.com"
  contact_info = var.registrant
  staff = {
    "jane.doe" = { first_name = "Jane", last_name = "Doe" }
    "office"   = { first_name = "Front", last_name = "Office" }
  }
}

# Each account needs its own module block: with for_each, all instances of a module
# share one provider.
module "america" {
  source    = "./modules/office"
  providers = { mailhost = mailhost.america }

  domain       = "example.net"
  contact_info = var.registrant
  staff = {
    "john.roe" = { first_name = "John", last_name = "Roe" }
  }
}

# Outside a module, each resource names its provider.
resource "mailhost_forwarding" "to_europe" {
  provider = mailhost.america

  domain       = module.america.domain
  target_email = "office@${module.europe.domain}" # in another account, so the recipient has to confirm
}
