ephemeral "mailhost_service_account_token" "script" {
  name     = "mail-migration"
  lifetime = "6h"
}

# Passes the token to a script in its environment only. The script runs once, and
# again when the trigger changes.
resource "terraform_data" "migration" {
  triggers_replace = "2027-01-15"

  provisioner "local-exec" {
    command = "test -n \"$MAILHOST_TOKEN\"" # your script

    environment = {
      MAILHOST_TOKEN = ephemeral.mailhost_service_account_token.script.token
    }
  }
}
