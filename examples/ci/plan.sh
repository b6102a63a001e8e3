#!/bin/sh
# Writes the plan for apply.sh to tfplan, and a summary to tfplan.txt: the warnings
# first, then the changes. Exits with 0 with and without changes, and prints
# changes=true or changes=false. TF_CLI names the CLI; default: terraform.
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

# "terraform show" omits the warnings, for instance that a mailbox is deleted with
# its mail. The plan prints them after the changes.
awk '/^Warning: /{ on = 1 } /^(─|Saved the plan)/{ on = 0 } on' tfplan.log >tfplan.txt
"$tf" show -no-color tfplan >>tfplan.txt
rm -f tfplan.code tfplan.log

echo "changes=$changes" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || { echo '```'; cat tfplan.txt; echo '```'; } >>"$GITHUB_STEP_SUMMARY"
