# By name, or by UUID.
terraform import mailhost_domain.main example.com
