#!/bin/sh
# Runs the tests of the module six times at once, each on an isolated account of one server:
#   mailhostd try -- tests/parallel.sh
#
# TF_CLI names the CLI; default: terraform.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
field() { sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p' "$dir/account$i"; }

pids=
for i in 1 2 3 4 5 6; do
	curl --silent --show-error --fail --data '{"isolated": true}' "$MAILHOST_CONTROL_URL/accounts" >"$dir/account$i"
	# control_url is the control plane of the account alone, with its own clock, outbox, journal and faults.
	MAILHOST_ACCOUNT_ID=$(field account_id) MAILHOST_TOKEN=$(field token) MAILHOST_CONTROL_URL=$(field control_url) \
		"${TF_CLI:-terraform}" test -no-color -test-directory=tests/standalone >"$dir/log$i" 2>&1 &
	pids="$pids $!"
done
failed=0
for pid in $pids; do wait "$pid" || failed=1; done
cat "$dir"/log*
exit "$failed"
