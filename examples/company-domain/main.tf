provider "mailhost" {
  # The account is embedded, in .mailhost in the working directory. For a remote
  # account, remove this and set MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and
  # MAILHOST_TOKEN.
  embedded = {}
}

module "company" {
  source = "./modules/company-domain"

  name         = var.domain
  contact_info = var.registrant
  redirect_url = "https://www.example.net/"

  mailboxes             = csvdecode(file("${path.module}/mailboxes.csv"))
  max_mailbox_deletions = var.max_mailbox_deletions
  forwarding            = var.forwarding

  mta_sts = {
    mode        = "testing"
    policy_host = "policies.example.net"
  }
  tls_reports_to   = ["postmaster@${var.domain}"]
  dmarc_policy     = "quarantine"
  dmarc_reports_to = ["postmaster@${var.domain}"]
  verifications = {
    search-engine = "search-engine-verification=3f9c2a71"
  }
  senders = {
    news = {
      spf           = ["include:_spf.newsletter.example"]
      dkim_selector = "nl1"
      dkim_key      = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
    }
  }

  master_password         = var.master_password
  master_password_version = var.master_password_version
}
