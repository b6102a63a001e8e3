variable "domains" {
  description = "Domains by name. auto_renew renews the registration automatically; redirect_url is the URL to redirect visitors of the website to; forward_to receives a copy of the domain's mail; newsletter is the subdomain that sends newsletters."
  type = map(object({
    auto_renew   = optional(bool, true)
    redirect_url = optional(string)
    forward_to   = optional(string)
    newsletter   = optional(string)
  }))
  default = {
    "example.com" = {
      newsletter = "news"
    }
    "example.net" = {
      redirect_url = "https://www.example.com/"
      forward_to   = "office@example.com"
    }
  }
  nullable = false

  validation {
    condition     = alltrue([for domain in values(var.domains) : domain.redirect_url == null || can(regex("^(https?://.*)?$", domain.redirect_url))])
    error_message = "Each redirect_url must begin with http:// or https://, or be \"\" to end a redirect."
  }

  validation {
    condition     = alltrue([for domain in values(var.domains) : domain.forward_to == null || can(regex("^[^@\\s]+@[^@\\s]+$", domain.forward_to))])
    error_message = "Each forward_to must be an e-mail address, for instance office@example.com."
  }
}

variable "registrant" {
  description = "Registrant of the domains."
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
    last_name    = "Müller-Lüdenscheidt"
    organization = "Example GmbH"
    email        = "hostmaster@example.com"
    phone        = "+493023125000"
    address_1    = "Straße der Beispiele 1"
    zip          = "10115"
    city         = "Berlin"
    state        = "Berlin"
    country      = "DE"
  }
  nullable = false

  validation {
    condition     = can(regex("^[A-Z]{2}$", var.registrant.country))
    error_message = "country must be a two-letter country code of ISO 3166, for instance DE."
  }

  validation {
    condition     = can(regex("^\\+[1-9][0-9]{5,14}$", var.registrant.phone))
    error_message = "phone must be a number with its country code and without spaces, for instance +493023125000."
  }
}

variable "service_hosts" {
  description = "CNAME records of every domain: the target host by name."
  type        = map(string)
  default = {
    autodiscover = "autodiscover.mailhost.example"
    webmail      = "webmail.mailhost.example"
  }
  nullable = false
}

variable "newsletter_sender" {
  description = "Domain whose SPF record lists the servers that send the newsletters."
  type        = string
  default     = "_spf.newsletter.example"
  nullable    = false
}

variable "dns_ttl" {
  description = "How long resolvers may cache the DNS records, in seconds."
  type        = number
  default     = 3600
  nullable    = false
}

variable "ci_token_expires_at" {
  description = "When the token of the CI service account expires, in RFC 3339, for instance 2030-01-31T00:00:00Z; null for never."
  type        = string
  default     = null

  validation {
    condition     = var.ci_token_expires_at == null || can(timeadd(var.ci_token_expires_at, "0s"))
    error_message = "ci_token_expires_at must be a time in RFC 3339, for instance 2030-01-31T00:00:00Z."
  }
}

variable "dedicated_ip_region" {
  description = "Region of the dedicated IP for outgoing mail: eu or us."
  type        = string
  default     = "eu"
  nullable    = false

  validation {
    condition     = contains(["eu", "us"], var.dedicated_ip_region)
    error_message = "dedicated_ip_region must be eu or us."
  }
}
