# "v=spf1 include:_spf.newsletter.example -all", with the quotes
output "zone_file_value" {
  value = provider::mailhost::txt_value(
    provider::mailhost::spf_record(["include:_spf.newsletter.example"], "-all")
  )
}
