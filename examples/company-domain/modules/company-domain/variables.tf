variable "name" {
  description = "Name of the domain, such as example.com."
  type        = string
  nullable    = false
}

variable "contact_info" {
  description = "Registrant of the domain; null to adopt a domain that the account owns already."
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

variable "auto_renew" {
  description = "Whether the registration renews automatically."
  type        = bool
  default     = true
  nullable    = false
}

variable "redirect_url" {
  description = "URL to redirect visitors of the domain's website to. null leaves the redirect as it is, and \"\" ends it."
  type        = string
  default     = null
}

variable "mailboxes" {
  description = "The mailboxes, for instance csvdecode(file(\"mailboxes.csv\")). Additional columns are ignored."
  type = list(object({
    local_part = string
    first_name = string
    last_name  = string
  }))
  default  = []
  nullable = false

  validation {
    condition = length(var.mailboxes) == length(distinct([for m in var.mailboxes : lower(m.local_part)]))
    error_message = "Each local_part may occur once, whether in upper or lower case. Repeated: ${join(", ", [
      for local_part, rows in { for m in var.mailboxes : lower(m.local_part) => m... } : "${local_part} (${length(rows)} times)" if length(rows) > 1
    ])}."
  }
}

variable "max_mailbox_deletions" {
  description = "How many mailboxes one apply may delete with their mail. A plan that deletes more is refused."
  type        = number
  default     = 0
  nullable    = false
}

variable "forwarding" {
  description = "Addresses that receive a copy of the domain's mail. Choose the keys: they identify the rules in plans, and a changed key replaces the rule."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "mta_sts" {
  description = "Makes other servers use TLS (RFC 8461). Mode testing only reports failures, enforce refuses delivery; null means no policy. policy_host is the web server that serves the policy, mx lists the domain's mail hosts, max_age is how long senders cache the policy, in seconds."
  type = object({
    mode        = string
    policy_host = string
    mx          = optional(list(string), ["*.mailhost.example"])
    max_age     = optional(number, 604800)
  })
  default = null
}

variable "dmarc_policy" {
  description = "What receivers do with mail that claims to be from the domain and fails SPF and DKIM (RFC 9989): none, quarantine or reject. Null keeps the built-in policy, none."
  type        = string
  default     = null
}

variable "dmarc_reports_to" {
  description = "Addresses that receive DMARC reports (RFC 9989) for the domain, if dmarc_policy is set, and for its senders."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "tls_reports_to" {
  description = "Addresses and https URLs that receive reports on failed TLS connections (RFC 8460)."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "verifications" {
  description = "TXT records that prove ownership of the domain to other services, by service."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "senders" {
  description = "Services that send mail from a subdomain, by subdomain, with the SPF terms and the DKIM key that the service requires. Receivers refuse mail that fails both."
  type = map(object({
    spf           = list(string)
    dkim_selector = string
    dkim_key      = string
  }))
  default  = {}
  nullable = false
}

variable "mail_hosts" {
  description = "Servers that mail programs connect to."
  type = object({
    imap         = optional(string, "imap.mailhost.example")
    submission   = optional(string, "smtp.mailhost.example")
    autodiscover = optional(string, "autodiscover.mailhost.example")
  })
  default  = {}
  nullable = false
}

variable "master_password" {
  description = "Opens every mailbox of the domain. Neither the state nor a plan stores it. Needed only with a new master_password_version."
  type        = string
  default     = null
  ephemeral   = true
}

variable "master_password_version" {
  description = "Raise it whenever master_password changes, because Terraform can't see that; null for no master password."
  type        = number
  default     = null
}
