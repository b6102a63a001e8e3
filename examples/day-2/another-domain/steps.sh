# Another domain for the set would delete all its mailboxes: the plan is refused.
cp "$recipe/wrong/staff.tf" .
! terraform apply # prints: max_deletions
# A second set from the same file, beside the first.
cp ../start/staff.tf "$recipe/new-domain.tf" .
terraform apply # prints: 2 added, 0 changed, 0 destroyed
