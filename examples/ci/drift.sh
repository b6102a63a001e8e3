#!/bin/sh
# Exits with 0 if the account matches the configuration, with 2 if it differs, and
# with 1 after an error. It writes nothing and waits for no lock.
# TF_CLI names the CLI; default: terraform.
set -eu
tf=${TF_CLI:-terraform}

"$tf" init -input=false
code=0
"$tf" plan -input=false -lock=false -detailed-exitcode || code=$?
[ "$code" -ne 2 ] || echo "The account and the configuration differ, see above. Change one of them." >&2
exit "$code"
