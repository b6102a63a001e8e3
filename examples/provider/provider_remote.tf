variable "oauth_client_secret" {
  description = "Secret of the OAuth client that Terraform runs as."
  type        = string
  sensitive   = true
}

# A remote account, with access tokens of the company's OAuth issuer instead of a
# service account's token.
provider "mailhost" {
  base_url   = "https://api.mailhost.example"
  account_id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"

  oauth2 = {
    token_url     = "https://login.example.com/oauth2/token"
    client_id     = "terraform"
    client_secret = var.oauth_client_secret
    scopes        = ["mailhost"]
  }
}
