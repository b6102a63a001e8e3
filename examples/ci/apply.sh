#!/bin/sh
# Applies exactly the reviewed tfplan. If the state has changed since the plan,
# Terraform refuses, and the pipeline has to plan again.
# TF_CLI names the CLI; default: terraform.
set -eu
umask 077
tf=${TF_CLI:-terraform}

if [ ! -f tfplan ] || [ ! -f tfplan.account ]; then
	echo "There is no plan here. Run plan.sh first: apply.sh removes the plan that it has applied." >&2
	exit 1
fi

account="${MAILHOST_BASE_URL:-} ${MAILHOST_ACCOUNT_ID:-}"
if [ "$(cat tfplan.account)" != "$account" ]; then
	echo "The plan was made for the account $(cat tfplan.account), and MAILHOST_BASE_URL and MAILHOST_ACCOUNT_ID of this job are $account. Plan with the variables of this job." >&2
	exit 1
fi

"$tf" init -input=false
code=0
"$tf" apply -input=false -lock-timeout=2m tfplan || code=$?
rm -f tfplan tfplan.txt tfplan.account tfplan.losses.json
if [ "$code" -ne 0 ]; then
	echo "The apply failed. Run the whole pipeline again, also its plan: Terraform refuses this one after the state has changed." >&2
	exit "$code"
fi
