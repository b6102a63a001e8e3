# Somebody has made a mailbox in the control panel.
mailhostd call create-mailbox domain=example.com local_part=info first_name=Front last_name=Office
cp "$recipe/check.tf" .
terraform plan # prints: Made by hand: info@example.com
# Add it to the file, and let the set adopt it.
cp "$recipe/mailboxes.csv" "$recipe/staff.tf" .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
