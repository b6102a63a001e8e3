#!/bin/sh
# Runs a command against a temporary mailhostd:
#   tests/with-mailhostd.sh terraform test -test-directory=tests/standalone
#
# The command receives MAILHOST_BASE_URL, MAILHOST_ACCOUNT_ID and MAILHOST_TOKEN, and
# the control plane's URL as MAILHOST_CONTROL_URL. MAILHOSTD names the server if it is
# not on PATH.
set -eu

mailhostd=${MAILHOSTD:-mailhostd}
dir=$(mktemp -d)
server=
stop() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	wait
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM

# {"account_id": "…", "workspace_id": "…", "token": "…"}
"$mailhostd" init --database "$dir/mailhost.db" >"$dir/account"
field() { sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p' "$dir/account"; }

# Port 0 chooses a free port; the log contains it.
: >"$dir/log"
"$mailhostd" serve --database "$dir/mailhost.db" --listen 127.0.0.1:0 --control-listen 127.0.0.1:0 2>"$dir/log" &
server=$!
url() { sed -n 's/.* msg="*'"$1"'"* url=\([^ ]*\).*/\1/p' "$dir/log"; }
tries=0
until [ -n "$(url serving)" ]; do
	tries=$((tries + 1))
	if [ "$tries" -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
		cat "$dir/log" >&2
		exit 1
	fi
	sleep 0.1
done

MAILHOST_BASE_URL=$(url serving)
MAILHOST_CONTROL_URL=$(url 'serving the control plane')
MAILHOST_ACCOUNT_ID=$(field account_id)
MAILHOST_TOKEN=$(field token)
export MAILHOST_BASE_URL MAILHOST_CONTROL_URL MAILHOST_ACCOUNT_ID MAILHOST_TOKEN
unset MAILHOST_DATA_DIR

"$@"
