# Without his name in retired, the plan refuses to delete the mailbox.
cp "$recipe/mailboxes.csv" .
! terraform apply # prints: john.roe@example.com
cp "$recipe/staff.tf" .
terraform apply # prints: The plan deletes 1 mailbox of example.com with its mail
# After the apply, the name leaves retired: it would apply to a namesake too.
cp ../start/staff.tf .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
