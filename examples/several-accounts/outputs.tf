output "europe" {
  description = "The account, its domain and its mailboxes."
  value       = module.europe
}

output "america" {
  description = "The account, its domain and its mailboxes."
  value       = module.america
}
