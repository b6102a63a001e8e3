# By the domain's name or UUID. The set then has every mailbox of the domain.
terraform import mailhost_mailbox_set.staff example.com
