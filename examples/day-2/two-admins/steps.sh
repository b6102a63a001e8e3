# You plan, and a colleague applies before you do.
cp "$recipe/mailboxes.csv" .
terraform plan -out=mine
cp "$recipe/colleague.tf" .
terraform apply # prints: 1 added
! terraform apply mine # prints: Saved plan is stale
# Your clone lacks her change, and the plan names what it would undo. Pull first.
mv colleague.tf colleague.merged
terraform plan # prints: mailhost_forwarding.office will be destroyed
mv colleague.merged colleague.tf
