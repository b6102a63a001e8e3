#!/bin/sh
# Writes the plan for apply.sh to tfplan, and the plan's own output to tfplan.txt:
# counts, deletions and replacements first, then the warnings, then all changes. A
# GitHub job's summary shows the same; of a large plan it omits the changes.
#
# Exits with 0 with and without changes, and prints changes=true or changes=false.
# TF_CLI names the CLI; default: terraform.
set -eu
umask 077 # a plan contains secrets of the state
tf=${TF_CLI:-terraform}

"$tf" init -input=false

# A pipe hides the exit code of its first command, so write it to a file.
echo 0 >tfplan.code
{ "$tf" plan -no-color -input=false -lock-timeout=2m -detailed-exitcode -out=tfplan || echo $? >tfplan.code; } | tee tfplan.log
case $(cat tfplan.code) in
0) changes=false ;;
2) changes=true ;;
*) exit 1 ;;
esac

# Only the plan's own output has the warnings, for instance that a mailbox is deleted
# with its mail: "terraform show" omits them. It prints them after the changes.
sed -n -e '/^─/d' -e '/^Saved the plan/,$d' -e '/^Warning: /,$p' tfplan.log >tfplan.warnings
sed -e '/: Refreshing state\.\.\./d' -e '/: Reading\.\.\./d' -e '/: Read complete after /d' \
	-e '/^─/,$d' -e '/^Warning: /,$d' -e '/^Saved the plan/,$d' tfplan.log >tfplan.changes
sed -n -e '/^Plan: /p' -e '/^No changes\./p' -e '/^You can apply this plan to save/p' tfplan.changes >tfplan.counts
sed -n -e 's/^  # \(.* will be destroyed\)$/\1/p' -e 's/^  # \(.* must be replaced\)$/\1/p' \
	-e 's/^  # \(.* will be replaced.*\)$/\1/p' tfplan.changes >tfplan.losses

{
	cat tfplan.counts tfplan.losses
	echo
	cat tfplan.warnings tfplan.changes
} >tfplan.txt

# GitHub accepts a summary of a megabyte.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	{
		echo '```'
		if [ "$(wc -c <tfplan.txt)" -lt 100000 ]; then
			cat tfplan.txt
		else
			cat tfplan.counts
			head -n 200 tfplan.losses
			echo
			head -n 1000 tfplan.warnings
			echo
			echo "$(wc -l <tfplan.losses) objects are destroyed or replaced. The plan is too long for this page; the job's log has all of it."
		fi
		echo '```'
	} >>"$GITHUB_STEP_SUMMARY"
fi
rm -f tfplan.code tfplan.log tfplan.warnings tfplan.changes tfplan.counts tfplan.losses

echo "changes=$changes" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
