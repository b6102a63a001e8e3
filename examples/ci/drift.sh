#!/bin/sh
# Exits with 0 if the account matches the configuration, with 2 if it differs or a check
# block fails, and with 1 after an error. It changes nothing and waits for no lock.
#
# With -json it prints one JSON object per line instead of text, without any values:
# type resource_drift for a change in the account, planned_change for what an apply
# would do, change_summary for their number, and diagnostic for an error or a warning.
# TF_CLI names the CLI; default: terraform.
set -eu
tf=${TF_CLI:-terraform}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$tf" init -input=false >&2
code=0
"$tf" plan -input=false -lock=false -detailed-exitcode "$@" >"$log" || code=$?
cat "$log"
if [ "$code" -eq 0 ] && grep -q 'Check block assertion failed' "$log"; then
  code=2
fi
[ "$code" -ne 2 ] || echo "The account and the configuration differ, see above. Change one of them." >&2
exit "$code"
