#!/bin/sh
# Runs tests/*.tftest.hcl on an embedded account, which the provider runs in its own
# process: the test needs no credential and changes nothing.
# TF_CLI names the CLI; default: terraform.
set -eu
tf=${TF_CLI:-terraform}

"$tf" init -input=false -backend=false
"$tf" test
