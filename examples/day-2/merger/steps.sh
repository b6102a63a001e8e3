# The other company's domain is in the account already, with its mailboxes.
cp "$recipe/merged.csv" "$recipe/merged.tf" .
terraform plan # prints: 2 to import, 0 to add, 0 to change, 0 to destroy
terraform apply # prints: 2 imported, 0 added, 0 changed, 0 destroyed
