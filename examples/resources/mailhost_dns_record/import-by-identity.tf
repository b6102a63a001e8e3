import {
  to = mailhost_dns_record.newsletter_spf
  identity = {
    id = "1042"
  }
}
