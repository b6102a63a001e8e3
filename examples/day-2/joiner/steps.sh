# The file has one line more.
cp "$recipe/mailboxes.csv" .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
