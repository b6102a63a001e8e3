# By address, or by UUID.
terraform import mailhost_mailbox.jane jane.doe@example.com
