#!/bin/sh
# Tests the module while the API fails in the middle of an apply:
#   mailhostd try -- tests/faults.sh
#
# mailhostd's control plane makes the API fail on demand and records its requests; GET /
# lists its operations. TF_CLI names the CLI; default: terraform.
set -eu
cd "$(dirname "$0")/faults"

tf=${TF_CLI:-terraform}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TF_DATA_DIR="$dir/data" TF_IN_AUTOMATION=1

control() { curl --silent --show-error --fail "$@"; }
fault() { control --data "$1" "$MAILHOST_CONTROL_URL/faults" >/dev/null; }
fail() {
	echo "FAILED: $*" >&2
	exit 1
}

apply() { "$tf" apply -input=false -auto-approve -no-color >"$dir/log" 2>&1; }

"$tf" init -input=false -backend-config="path=$dir/terraform.tfstate" >/dev/null

echo "The API creates a mailbox but drops the connection before it responds,"
echo "and it refuses the forwarding rule."
fault '{"operation": "create-mailbox", "nth": 1, "drop": "after"}'
fault '{"operation": "create-forwarding", "status": 403}'
! apply || fail "the apply succeeded although the rule was refused"

echo "The next apply completes, and a plan after it is empty."
control --request DELETE "$MAILHOST_CONTROL_URL/faults" >/dev/null
apply || { cat "$dir/log" >&2; fail "the second apply"; }
"$tf" plan -input=false -detailed-exitcode >"$dir/log" || { cat "$dir/log" >&2; fail "the plan is not empty"; }

echo "Each mailbox exists once."
purchases=$(control "$MAILHOST_CONTROL_URL/journal?operation=purchase-domains" | grep -o '"seq"' | wc -l)
[ "$purchases" -eq 1 ] || fail "the domain was bought $purchases times"
mailboxes=$(control "$MAILHOST_CONTROL_URL/fixture" | grep -o '"local_part"' | wc -l)
[ "$mailboxes" -eq 3 ] || fail "there are $mailboxes mailboxes"

"$tf" destroy -input=false -auto-approve >"$dir/log" || { cat "$dir/log" >&2; fail "the destroy"; }
