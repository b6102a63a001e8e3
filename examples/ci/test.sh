#!/bin/sh
# Runs tests/*.tftest.hcl on an embedded account, which the provider runs in its own
# process: the test needs no credential and changes nothing.
# TF_CLI names the CLI; default: terraform.
set -eu
tf=${TF_CLI:-terraform}

# Without a test, "terraform test" succeeds.
set -- tests/*.tftest.hcl
[ -e "$1" ] || { echo "There is no test: no file matches tests/*.tftest.hcl." >&2; exit 1; }

# A folder of its own for the account, so that a second run begins with the fixture too.
unset MAILHOST_BASE_URL MAILHOST_ACCOUNT_ID MAILHOST_TOKEN MAILHOST_AUDIENCE
MAILHOST_DATA_DIR=$(mktemp -d)
export MAILHOST_DATA_DIR
trap 'rm -rf "$MAILHOST_DATA_DIR"' EXIT
trap 'exit 1' HUP INT TERM

"$tf" init -input=false -backend=false
"$tf" test
