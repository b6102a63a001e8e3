# Lists every dedicated IP of the account. Run
#   terraform query -generate-config-out=addresses.tf
# to write their configuration and import blocks.
list "mailhost_dedicated_ip" "all" {
  provider = mailhost
}

# Filters combine with AND. include_resource adds all attributes to the result.
list "mailhost_dedicated_ip" "german" {
  provider         = mailhost
  include_resource = true

  config {
    country_code = "DE"
    status       = "active"
  }
}
