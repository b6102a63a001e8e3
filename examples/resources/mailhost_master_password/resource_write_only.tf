variable "backup_password" {
  description = "Opens every mailbox of the account, for the backup. Set it as TF_VAR_backup_password."
  type        = string
  ephemeral   = true
}

# Terraform or OpenTofu 1.11 and later: the secret is kept neither in the state
# nor in a plan. Raise the version whenever the secret is another one.
resource "mailhost_master_password" "backup" {
  name             = "Backup"
  value_wo         = var.backup_password
  value_wo_version = 1
}
