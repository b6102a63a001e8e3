# For the trial: the other company's account, in its own database.
mailhostd fixture load "$recipe/other.json" --database other.db
# Its configuration, without the import blocks: your account has nothing of it yet.
mailhostd export --hcl merged --database other.db
cp merged/example.org.tf "$recipe/example.org_override.tf" .
terraform apply # prints: 3 added, 0 changed, 0 destroyed
