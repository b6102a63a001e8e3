variable "name" {
  description = "Name of the domain, such as example.com."
  type        = string
  nullable    = false
}

variable "contact_info" {
  description = "Who registers the domain; null for a domain that the account owns already, which is adopted."
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
  description = "Whether the registration is renewed by itself."
  type        = bool
  default     = true
  nullable    = false
}

variable "redirect_url" {
  description = "Where visitors of the domain's website are sent; null for nowhere."
  type        = string
  default     = null
}

variable "mailboxes" {
  description = "The mailboxes, for instance csvdecode(file(\"mailboxes.csv\")). Further columns are ignored."
  type = list(object({
    local_part = string
    first_name = string
    last_name  = string
  }))
  default  = []
  nullable = false

  validation {
    condition = length(var.mailboxes) == length(distinct([for m in var.mailboxes : lower(m.local_part)]))
    error_message = "Each local_part may be there once, in upper or lower case. More than once: ${join(", ", [
      for local_part, rows in { for m in var.mailboxes : lower(m.local_part) => m... } : "${local_part} (${length(rows)} times)" if length(rows) > 1
    ])}."
  }
}

variable "forwarding" {
  description = "Addresses that receive a copy of the domain's mail. The keys are yours, and name the rules in plans: another key is another rule."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "mta_sts" {
  description = "Makes other servers use TLS (RFC 8461): testing only reports, enforce refuses, null is no policy at all. policy_host is the web server that serves the policy, mx the mail hosts of the domain, max_age how long senders keep the policy, in seconds."
  type = object({
    mode        = string
    policy_host = string
    mx          = optional(list(string), ["*.mailhost.example"])
    max_age     = optional(number, 604800)
  })
  default = null
}

variable "dmarc_policy" {
  description = "What receivers do with mail that claims to be from the domain and fails SPF and DKIM (RFC 7489): none, quarantine or reject. Null keeps the policy that the domain comes with, which is none."
  type        = string
  default     = null
}

variable "dmarc_reports_to" {
  description = "Addresses that receive reports on mail that claims to be from the domain, if it has a dmarc_policy, or from one of the senders (RFC 7489)."
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
  description = "TXT records that prove the domain's ownership to other services, by service."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "senders" {
  description = "Services that send mail from a subdomain of their own, by subdomain: the SPF terms and the DKIM key that the service names. All that fails both is refused."
  type = map(object({
    spf           = list(string)
    dkim_selector = string
    dkim_key      = string
  }))
  default  = {}
  nullable = false
}

variable "mail_hosts" {
  description = "Where mail programs find the servers."
  type = object({
    imap         = optional(string, "imap.mailhost.example")
    submission   = optional(string, "smtp.mailhost.example")
    autodiscover = optional(string, "autodiscover.mailhost.example")
  })
  default  = {}
  nullable = false
}

variable "master_password" {
  description = "Opens every mailbox of the domain; kept neither in the state nor in a plan. It is needed only with a new master_password_version."
  type        = string
  default     = null
  ephemeral   = true
}

variable "master_password_version" {
  description = "Raise it whenever master_password is another one, which Terraform can't see; null for no master password."
  type        = number
  default     = null
}
