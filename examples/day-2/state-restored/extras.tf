data "mailhost_dedicated_ip_options" "all" {}

resource "mailhost_dedicated_ip" "outbound" {
  option_id = data.mailhost_dedicated_ip_options.all.dedicated_ip_options[0].id
}

resource "mailhost_service_account" "sync" {
  name        = "hr-sync"
  valid_for   = "720h"
  permissions = [{ capability_key = "mailbox.view" }]
}
