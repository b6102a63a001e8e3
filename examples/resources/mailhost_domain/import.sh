# By name or UUID.
terraform import mailhost_domain.main example.com
