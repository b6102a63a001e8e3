# For the trial: the other company's account, in its own database.
mailhostd fixture load "$recipe/other.json" --database other.db
# Its configuration, without the import blocks: your account has nothing of it yet.
mailhostd export --hcl merged --database other.db --account-id 1c8e3f2a-5b7d-4e9f-8a6b-2d4c6e8f0a13
cp merged/example.org.tf "$recipe/example.org_override.tf" .
terraform apply # prints: 3 added, 0 changed, 0 destroyed
