# Last night's backup of the state lacks what was applied today.
cp terraform.tfstate backup.tfstate
cp "$recipe/mailboxes.csv" "$recipe/extras.tf" .
terraform apply # prints: 2 added, 1 changed
rm terraform.tfstate
mv backup.tfstate terraform.tfstate
# The plan refuses what exists, also the address, and warns of the service account that it would create again.
! terraform plan # prints: hr-sync
# Import the address, revoke the token that is lost, and adopt the rest.
mailhostd token revoke hr-sync
cp "$recipe/imports.tf" "$recipe/staff.tf" .
terraform apply # prints: 1 imported, 1 added, 2 changed, 0 destroyed
