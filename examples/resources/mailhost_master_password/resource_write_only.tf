variable "backup_password" {
  description = "Opens every mailbox of the account, for the backup. Set it as TF_VAR_backup_password."
  type        = string
  ephemeral   = true
  default     = null # while the secret stays the same, nobody needs it
}

# Requires Terraform or OpenTofu 1.11. Neither the state nor a plan stores the secret.
# Raise the version whenever the secret changes.
resource "mailhost_master_password" "backup" {
  name             = "Backup"
  value_wo         = var.backup_password
  value_wo_version = 1
}
