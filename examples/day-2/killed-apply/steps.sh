# The apply creates bob's mailbox, and is killed before it writes the state.
cp "$recipe/mailboxes.csv" .
cp terraform.tfstate before.tfstate
terraform apply # prints: 1 changed
mv before.tfstate terraform.tfstate
# The plan names what exists, and the way out.
! terraform apply # prints: 1 mailbox to be created exists already
cp "$recipe/staff.tf" .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
