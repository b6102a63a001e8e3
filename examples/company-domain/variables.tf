variable "domain" {
  description = "The company's domain."
  type        = string
  default     = "example.com"
  nullable    = false
}

variable "registrant" {
  description = "Registrant of the domain; null for a domain that the account owns already."
  type = object({
    first_name   = string
    last_name    = string
    organization = string
    email        = string
    phone        = string
    address_1    = string
    zip          = string
    city         = string
    state        = string
    country      = string
  })
  default = {
    first_name   = "Zoë"
    last_name    = "Müller"
    organization = "Example GmbH"
    email        = "hostmaster@example.net"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
}

variable "max_mailbox_deletions" {
  description = "How many mailboxes an apply may delete. Set it for the one apply that does."
  type        = number
  default     = 0
  nullable    = false
}

variable "forwarding" {
  description = "Addresses that receive a copy of the domain's mail, by purpose."
  type        = map(string)
  default = {
    assistant = "office@example.com"
    archive   = "archive@compliance.example"
  }
  nullable = false
}

variable "master_password" {
  description = "Opens every mailbox of the domain. Set it as TF_VAR_master_password; neither the state nor a plan stores it."
  type        = string
  default     = null
  ephemeral   = true
}

variable "master_password_version" {
  description = "Raise it whenever master_password changes; null for no master password."
  type        = number
  default     = null
}
