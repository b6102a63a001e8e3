# The mailbox leaves the set, and the same apply manages it as a resource of its own.
cp "$recipe/mailboxes.csv" "$recipe/staff.tf" "$recipe/john.tf" .
terraform apply # prints: 1 imported, 0 added, 1 changed, 0 destroyed
# After the apply, the name leaves retired: it would apply to a namesake too.
cp ../start/staff.tf .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
! terraform destroy # prints: prevent_destroy
