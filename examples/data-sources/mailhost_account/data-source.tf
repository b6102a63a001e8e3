data "mailhost_account" "this" {}

output "workspaces" {
  description = "Ids of the workspaces by name."
  value       = { for w in data.mailhost_account.this.workspaces : w.name => w.id }
}

output "default_workspace" {
  description = "Workspace of new objects that name no other."
  value       = data.mailhost_account.this.default_workspace_id
}

output "cancelled" {
  description = "Whether the account is cancelled, or will be."
  value       = data.mailhost_account.this.status != "active"
}
