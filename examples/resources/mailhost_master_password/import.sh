# By <domain>/<name>, <workspace UUID>/<name>, the name alone for one of the whole
# account, or UUID.
terraform import mailhost_master_password.migration 'example.com/IMAP migration'
