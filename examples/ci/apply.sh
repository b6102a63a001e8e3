#!/bin/sh
# Applies exactly the reviewed tfplan. If the state has changed since the plan,
# Terraform refuses, and the pipeline has to plan again.
# TF_CLI names the CLI; default: terraform.
set -eu
umask 077
tf=${TF_CLI:-terraform}

"$tf" init -input=false
"$tf" apply -input=false -lock-timeout=2m tfplan
rm -f tfplan tfplan.txt
