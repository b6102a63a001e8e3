import {
  to = mailhost_dedicated_ip.outbound
  id = "198.51.100.1"
}
