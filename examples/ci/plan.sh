#!/bin/sh
# Writes the plan for apply.sh to tfplan, its account to tfplan.account, and the plan's own
# output to tfplan.txt: counts, purchases, deletions and replacements and what is lost with
# them first, then the warnings, then all changes. A GitHub job's summary shows the same, or
# the errors; of a large plan it omits the changes. tfplan.losses.json has the losses for
# policy.sh.
#
# Exits with 0 with and without changes, and prints changes=true or changes=false.
# TF_CLI names the CLI; default: terraform.
set -eu
umask 077 # a plan contains secrets of the state
tf=${TF_CLI:-terraform}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

rm -f tfplan tfplan.txt tfplan.account tfplan.losses.json

# run shows the output of a command, keeps it in the file log, and returns its exit code,
# which a pipe would hide. A cancelled job gets its signal in every process: without tee the
# CLI would end before it has released the lock of the state.
run() {
	echo 0 >"$work/code"
	{ "$@" 2>&1 || echo $? >"$work/code"; } | (trap '' HUP INT TERM; exec tee "$work/log")
	return "$(cat "$work/code")"
}

code=0
run "$tf" init -no-color -input=false || code=$?
if [ "$code" -eq 0 ]; then
	run "$tf" plan -no-color -input=false -lock-timeout=2m -detailed-exitcode -out=tfplan || code=$?
fi
case $code in
0) changes=false ;;
2) changes=true ;;
*)
	rm -f tfplan # Terraform writes one for a plan that has failed, too
	if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
		{
			echo '```'
			sed -n '/^Error: /,$p' "$work/log" | head -n 1000
			echo '```'
		} >>"$GITHUB_STEP_SUMMARY"
	fi
	exit 1
	;;
esac

# apply.sh refuses to apply the plan to another account: Terraform does not compare the
# accounts for mailboxes, records and other objects that the plan creates.
echo "${MAILHOST_BASE_URL:-} ${MAILHOST_ACCOUNT_ID:-}" >tfplan.account

# Only the plan's own output has the warnings, for instance that a mailbox is deleted
# with its mail: "terraform show" omits them. It prints them after the changes.
sed -n -e '/^─/d' -e '/^Saved the plan/,$d' -e '/^Warning: /,$p' "$work/log" >"$work/warnings"
sed -e '/: Refreshing state\.\.\./d' -e '/: Reading\.\.\./d' -e '/: Read complete after /d' \
	-e '/^─/,$d' -e '/^Warning: /,$d' -e '/^Saved the plan/,$d' "$work/log" >"$work/changes"
sed -n -e '/^Plan: /p' -e '/^No changes\./p' -e '/^You can apply this plan to save/p' "$work/changes" >"$work/counts"
awk '
	/^  # / { object = $0; sub(/^  # /, "", object); sub(/ (will|must) be .*/, "", object) }
	/^ +[+~] acquisition +=.*"purchase"/ { print object " will be bought" }
	/^ +[+~] acquisition +=.*\(known after apply\)/ { print object " may be bought" }
' "$work/changes" >"$work/purchases"
sed -n -e 's/^  # \(.* will be destroyed\)$/\1/p' -e 's/^  # \(.* must be replaced\)$/\1/p' \
	-e 's/^  # \(.* will be replaced.*\)$/\1/p' "$work/changes" >"$work/ends"
# The losses and purchases of the plan, with the objects that a warning lists. The provider
# ends each such warning with a line that names what it concerns: mail, DNS, access, money,
# purchase, reach or "a second time".
awk '
	/^Warning: / { summary = substr($0, 10); objects = "" }
	/^  - / { objects = objects "\n" $0 }
	/^Concerns: / { print summary objects }
' "$work/warnings" >"$work/losses"
awk '
	function quoted(s) { gsub(/["\\]/, "\\\\&", s); return "\"" s "\"" }
	BEGIN { printf "{\"losses\": [" }
	/^Warning: / { summary = substr($0, 10) }
	/^Concerns: / {
		concerns = quoted(substr($0, 11))
		gsub(/, /, "\", \"", concerns)
		printf "%s\n{\"summary\": %s, \"concerns\": [%s]}", separator, quoted(summary), concerns
		separator = ","
	}
	END { print "]}" }
' "$work/warnings" >tfplan.losses.json

{
	cat "$work/counts" "$work/purchases" "$work/ends" "$work/losses"
	echo
	cat "$work/warnings" "$work/changes"
} >tfplan.txt

# GitHub accepts a summary of a megabyte.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	{
		echo '```'
		if [ "$(wc -c <tfplan.txt)" -lt 100000 ]; then
			cat tfplan.txt
		else
			cat "$work/counts"
			head -n 200 "$work/purchases"
			head -n 200 "$work/ends"
			echo
			head -n 5000 "$work/losses"
			echo
			head -n 1000 "$work/warnings"
			echo
			echo "$(wc -l <"$work/purchases") objects are bought, and $(wc -l <"$work/ends") objects are destroyed or replaced. The plan is too long for this page; the job's log has all of it."
		fi
		echo '```'
	} >>"$GITHUB_STEP_SUMMARY"
fi

echo "changes=$changes" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
