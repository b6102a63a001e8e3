# Two people move to a set of their own. Their mailboxes stay as they are.
cp "$recipe/mailboxes.csv" "$recipe/staff.tf" "$recipe/support.csv" "$recipe/support.tf" .
terraform apply # prints: 1 added, 1 changed, 0 destroyed
# After the apply, the names leave retired: it would apply to namesakes too.
cp ../start/staff.tf .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
