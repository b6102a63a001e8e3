# The file ends after its first line. Nothing is deleted.
cp "$recipe/mailboxes.csv" .
! terraform apply # prints: john.roe@example.com
# Put the file back: git checkout mailboxes.csv
cp ../start/mailboxes.csv .
