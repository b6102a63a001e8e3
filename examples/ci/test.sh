#!/bin/sh
# Runs tests/*.tftest.hcl on an embedded account, which the provider runs in its own
# process: the test needs no credential and changes nothing.
# TF_CLI names the CLI; default: terraform.
set -eu
tf=${TF_CLI:-terraform}

# Without a test, "terraform test" succeeds.
set -- tests/*.tftest.hcl
[ -e "$1" ] || { echo "There is no test: no file matches tests/*.tftest.hcl." >&2; exit 1; }

"$tf" init -input=false -backend=false
"$tf" test
