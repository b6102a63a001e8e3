# By address or UUID.
terraform import mailhost_mailbox.jane jane.doe@example.com
