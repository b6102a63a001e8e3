#!/bin/sh
# Checks tfplan, and the losses that plan.sh found in its warnings, with the rules of package
# mail in the folder policy: prints what they deny and exits with 1, or exits with 0. A GitHub job's summary shows the denials too. The
# JSON of a plan contains secrets, so that no file gets it.
# OPA names the Open Policy Agent, default: opa. TF_CLI names the CLI, default: terraform.
set -eu

set -- --data policy
[ ! -e tfplan.losses.json ] || set -- "$@" --data tfplan.losses.json
plan=$("${TF_CLI:-terraform}" show -json tfplan)
# --fail: no result, for instance because no rule was loaded, is no permission.
denied=$(printf '%s' "$plan" | "${OPA:-opa}" eval --stdin-input "$@" --fail --format raw 'concat("\n", data.mail.deny)') || {
	printf '%s\n' "$denied" 'The policy was not evaluated: see above, or check that policy/*.rego define strings in data.mail.deny.' >&2
	exit 1
}
[ -n "$denied" ] || exit 0
printf 'The policy denies this plan:\n%s\n' "$denied" >&2
# shellcheck disable=SC2016 # the backticks are Markdown
printf '\nThe policy denies this plan:\n\n```\n%s\n```\n' "$denied" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit 1
