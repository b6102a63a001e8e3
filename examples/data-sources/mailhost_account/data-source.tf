data "mailhost_account" "this" {}

output "workspaces" {
  description = "Ids of the workspaces, by their names."
  value       = { for w in data.mailhost_account.this.workspaces : w.name => w.id }
}

output "default_workspace" {
  description = "Workspace of what names no other one."
  value       = data.mailhost_account.this.default_workspace_id
}

output "cancelled" {
  description = "Whether the account is cancelled, or will be."
  value       = data.mailhost_account.this.status != "active"
}
