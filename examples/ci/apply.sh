#!/bin/sh
# Applies exactly the reviewed tfplan. If the state has changed since the plan,
# Terraform refuses, and the pipeline has to plan again.
# TF_CLI names the CLI; default: terraform.
set -eu
umask 077
tf=${TF_CLI:-terraform}

"$tf" init -input=false
code=0
"$tf" apply -input=false -lock-timeout=2m tfplan || code=$?
rm -f tfplan tfplan.txt
if [ "$code" -ne 0 ]; then
	echo "The apply failed. Run the whole pipeline again, also its plan: Terraform refuses this one after the state has changed." >&2
	exit "$code"
fi
