# Every forwarding rule of the account: terraform query lists them, and with
# -generate-config-out=forwarding.tf it writes their configuration and import blocks.
list "mailhost_forwarding" "all" {
  provider = mailhost
  limit    = 1000
}

# Those of a domain that wait for their recipient, with all that the API says of
# them.
list "mailhost_forwarding" "pending" {
  provider         = mailhost
  include_resource = true

  config {
    domain             = "example.com"
    verification_state = "pending"
  }
}
