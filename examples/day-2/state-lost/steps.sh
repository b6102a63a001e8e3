# There is neither a state nor a backup of one. Adopt what exists.
rm terraform.tfstate
! terraform plan # prints: 3 mailboxes to be created exist already
cp "$recipe/staff.tf" .
terraform apply # prints: 2 added, 0 changed, 0 destroyed
# An export shows what else the account has.
mailhostd export --hcl account --no-json # prints: 2 domains
