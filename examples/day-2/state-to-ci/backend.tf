# Write the backend of your team here: s3, http, azurerm, …
terraform {
  backend "local" {
    path = "shared/terraform.tfstate"
  }
}
