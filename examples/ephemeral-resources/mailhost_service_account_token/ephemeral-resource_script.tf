ephemeral "mailhost_service_account_token" "script" {
  name     = "mail-migration"
  lifetime = "6h"
}

# A script finds the token in its environment, and nowhere else. It runs once, and
# again when the trigger changes.
resource "terraform_data" "migration" {
  triggers_replace = "2027-01-15"

  provisioner "local-exec" {
    command = "test -n \"$MAILHOST_TOKEN\"" # and then the script

    environment = {
      MAILHOST_TOKEN = ephemeral.mailhost_service_account_token.script.token
    }
  }
}
