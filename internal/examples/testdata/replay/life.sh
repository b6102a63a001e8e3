#!/bin/sh
# Applies, changes, imports and destroys the configuration, with an empty plan after each apply.
set -eu
rm -f terraform.tfstate
"$TF_CLI" apply -auto-approve
"$TF_CLI" plan -detailed-exitcode
"$TF_CLI" apply -auto-approve -var last_name=Roe
"$TF_CLI" plan -detailed-exitcode -var last_name=Roe
"$TF_CLI" state rm mailhost_mailbox.jane
"$TF_CLI" import -var last_name=Roe mailhost_mailbox.jane jane@example.com
"$TF_CLI" plan -detailed-exitcode -var last_name=Roe
"$TF_CLI" output -json > outputs.json
"$TF_CLI" destroy -auto-approve
