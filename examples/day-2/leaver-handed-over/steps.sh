# The line stays, with the name of who reads the mail from now on.
cp "$recipe/mailboxes.csv" .
terraform apply # prints: 0 added, 1 changed, 0 destroyed
