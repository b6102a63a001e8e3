#!/bin/sh
# What the module does where the API fails in the middle of an apply:
#   tests/with-mailhostd.sh tests/faults.sh
#
# The control plane makes the API misbehave on demand, and tells what it was asked:
# GET / there lists all that it can. TF_CLI names the CLI; default: terraform.
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

echo "A mailbox is created, and the connection breaks before anybody hears of it;"
echo "the archive's rule is refused."
fault '{"operation": "create-mailbox", "nth": 1, "drop": "after"}'
fault '{"operation": "create-forwarding", "status": 403}'
! apply || fail "the refused rule was no error"

echo "The next apply goes on, and a plan after it is empty."
control --request DELETE "$MAILHOST_CONTROL_URL/faults" >/dev/null
apply || { cat "$dir/log" >&2; fail "the second apply"; }
"$tf" plan -input=false -detailed-exitcode >"$dir/log" || { cat "$dir/log" >&2; fail "the plan is not empty"; }

echo "Each mailbox is there, once."
purchases=$(control "$MAILHOST_CONTROL_URL/journal?operation=purchase-domains" | grep -o '"seq"' | wc -l)
[ "$purchases" -eq 1 ] || fail "the domain was bought $purchases times"
mailboxes=$(control "$MAILHOST_CONTROL_URL/fixture" | grep -o '"local_part"' | wc -l)
[ "$mailboxes" -eq 3 ] || fail "there are $mailboxes mailboxes"

"$tf" destroy -input=false -auto-approve >"$dir/log" || { cat "$dir/log" >&2; fail "the destroy"; }
