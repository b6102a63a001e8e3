# By <domain>/<name>, by <workspace UUID>/<name>, by the name alone for one of the
# whole account, or by UUID.
terraform import mailhost_master_password.migration 'example.com/IMAP migration'
