import {
  to = mailhost_forwarding.office
  id = "example.com/office@example.com"
}
