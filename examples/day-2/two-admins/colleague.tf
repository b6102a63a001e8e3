resource "mailhost_forwarding" "office" {
  domain       = mailhost_domain.main.name
  target_email = "jane.doe@example.com"
}
