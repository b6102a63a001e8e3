output "europe" {
  description = "The account and what is in it."
  value       = module.europe
}

output "america" {
  description = "The account and what is in it."
  value       = module.america
}
