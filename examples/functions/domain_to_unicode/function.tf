# bücher.example
output "display_name" {
  value = provider::mailhost::domain_to_unicode("xn--bcher-kva.example")
}
