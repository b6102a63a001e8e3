import {
  to = mailhost_dns_zone.main
  id = "example.com"
}
