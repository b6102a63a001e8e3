variable "domain" {
  description = "Name of the domain."
  type        = string
  nullable    = false
}

variable "contact_info" {
  description = "Registrant of the domain; null for one that the account owns already."
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
  default = null
}

variable "members" {
  description = "The team, by local part of the address."
  type = map(object({
    first_name = string
    last_name  = string
  }))
  nullable = false

  validation {
    condition     = !contains(keys(var.members), "postmaster")
    error_message = "postmaster belongs to the administration. Remove it from the members."
  }
}

variable "archive" {
  description = "Address that receives a copy of the domain's mail; null for none."
  type        = string
  default     = null
}
