# The state moves from this folder to where all jobs reach it.
cp "$recipe/backend.tf" .
terraform init -migrate-state -force-copy # prints: Successfully configured the backend
terraform plan # prints: No changes
