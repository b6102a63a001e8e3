# The new name in her old mailbox, and a second mailbox with the new address.
cp "$recipe/mailboxes.csv" .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
# Months later nobody writes to the old address.
cp "$recipe/later/mailboxes.csv" "$recipe/later/staff.tf" .
terraform apply # prints: jane.doe@example.com
# After the apply, the name leaves retired: it would apply to a namesake too.
cp ../start/staff.tf .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
