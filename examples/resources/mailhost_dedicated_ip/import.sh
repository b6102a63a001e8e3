# By IP address, name or UUID.
terraform import mailhost_dedicated_ip.outbound 198.51.100.1
