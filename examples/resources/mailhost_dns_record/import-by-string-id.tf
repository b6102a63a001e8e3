import {
  to = mailhost_dns_record.newsletter_spf
  id = "example.com/TXT/news/v=spf1 include:_spf.newsletter.example -all"
}
