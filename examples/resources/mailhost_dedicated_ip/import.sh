# By IP address, by name, or by UUID.
terraform import mailhost_dedicated_ip.outbound 198.51.100.1
