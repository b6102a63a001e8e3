data "mailhost_domain" "main" {
  name = "example.com"
}

# The public key that the sending service shows. With the tls provider, use
# tls_private_key.dkim.public_key_pem.
locals {
  newsletter_key = <<-EOT
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmpFC2wz07toQ8jHwnU8M
    JUNoS7Oi7d1tXUAcJX1CudMMRGmiAikhqXqSg4G2r7dT2MbLfzcqQM8orKW5TXZ2
    KMWOMTWfiy+7U15GgqjgbceHRogfltzbEH/cRwNXW5Nvk7bnDHrx7yNpn/pJSn3A
    +vyketLJ7V/Ft7d+pay2jhYkamFoADotnuXhS0Q/Jhnf+q8/nGXb5VbGaV0luT0L
    KQ6DN7TK4aXvdxK+1cw8clIibGPj4PchFFjmnEGknFNC/4i1Lg2VmbhT8u3qzmfK
    o+m4VqPc8hJlhY0rAL6Pl1R3Znx2sYonW9yMW+1cPtaq/yhg0r63QIlg8ibHqbTb
    lQIDAQAB
    -----END PUBLIC KEY-----
  EOT
}

resource "mailhost_dns_record" "newsletter_dkim" {
  domain = data.mailhost_domain.main.name
  name   = "s2026._domainkey.news"
  type   = "TXT"
  value  = provider::mailhost::dkim_record(local.newsletter_key)
}

# A second, Ed25519 key in test mode.
resource "mailhost_dns_record" "newsletter_dkim_ed25519" {
  domain = data.mailhost_domain.main.name
  name   = "e2026._domainkey.news"
  type   = "TXT"
  value  = provider::mailhost::dkim_record("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", { t = "y" })
}

# Revokes last year's key.
resource "mailhost_dns_record" "newsletter_dkim_revoked" {
  domain = data.mailhost_domain.main.name
  name   = "s2025._domainkey.news"
  type   = "TXT"
  value  = provider::mailhost::dkim_record("", { revoked = true })
}
