# By the domain's name, or by its UUID.
terraform import mailhost_dns_zone.main example.com
