import {
  to = mailhost_domain.main
  id = "example.com"
}
