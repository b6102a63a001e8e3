# Lists every forwarding rule of the account. Run
#   terraform query -generate-config-out=forwarding.tf
# to write their configuration and import blocks.
list "mailhost_forwarding" "all" {
  provider = mailhost
  limit    = 1000
}

# Rules of a domain that wait for confirmation. include_resource adds all attributes
# to the result.
list "mailhost_forwarding" "pending" {
  provider         = mailhost
  include_resource = true

  config {
    domain             = "example.com"
    verification_state = "pending"
  }
}
