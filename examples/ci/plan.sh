#!/bin/sh
# Plans into the file tfplan, for apply.sh, and into tfplan.txt, for people.
# Ends with 0 whether there is something to change or not, and says which.
# TF_CLI names the CLI; default: terraform.
set -eu
umask 077 # a plan holds what a state holds
tf=${TF_CLI:-terraform}

"$tf" init -input=false
code=0
"$tf" plan -input=false -lock-timeout=2m -detailed-exitcode -out=tfplan || code=$?
case $code in
0) changes=false ;;
2) changes=true ;;
*) exit "$code" ;;
esac

"$tf" show -no-color tfplan >tfplan.txt
echo "changes=$changes" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || { echo '```'; cat tfplan.txt; echo '```'; } >>"$GITHUB_STEP_SUMMARY"
