# One provider for each account. Here both accounts are part of the provider, each
# in a folder of its own. Remote ones have a credential each, which is better off
# in variables than in the environment, which has room for one only:
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

# There is none without an alias, so that nothing lands in an account by accident. A
# resource that names no provider would be in an account of its own, in .mailhost,
# or in the one that MAILHOST_BASE_URL names: leave that unset. The plan warns.

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

# Each account has a block of its own: with a for_each, Terraform gives all instances
# of a module the same provider.
module "america" {
  source    = "./modules/office"
  providers = { mailhost = mailhost.america }

  domain       = "example.net"
  contact_info = var.registrant
  staff = {
    "john.roe" = { first_name = "John", last_name = "Roe" }
  }
}

# Outside of a module, each resource names its account.
resource "mailhost_forwarding" "to_europe" {
  provider = mailhost.america

  domain       = module.america.domain
  target_email = "office@${module.europe.domain}" # a mailbox, but of another account: its recipient has to confirm
}
