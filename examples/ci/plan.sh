#!/bin/sh
# Plans into the file tfplan, for apply.sh, and writes tfplan.txt for people: the
# warnings first, then the changes. Ends with 0 whether there are changes or not, and
# prints which. TF_CLI names the CLI; default: terraform.
set -eu
umask 077 # a plan holds what a state holds
tf=${TF_CLI:-terraform}

"$tf" init -input=false

# A pipe hides the exit code of its first command, so a file keeps it.
echo 0 >tfplan.code
{ "$tf" plan -no-color -input=false -lock-timeout=2m -detailed-exitcode -out=tfplan || echo $? >tfplan.code; } | tee tfplan.log
case $(cat tfplan.code) in
0) changes=false ;;
2) changes=true ;;
*) exit 1 ;;
esac

# "terraform show" leaves the warnings out, for instance that a mailbox is deleted
# with its mail. The plan prints them after the changes.
awk '/^Warning: /{ on = 1 } /^(─|Saved the plan)/{ on = 0 } on' tfplan.log >tfplan.txt
"$tf" show -no-color tfplan >>tfplan.txt
rm -f tfplan.code tfplan.log

echo "changes=$changes" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || { echo '```'; cat tfplan.txt; echo '```'; } >>"$GITHUB_STEP_SUMMARY"
