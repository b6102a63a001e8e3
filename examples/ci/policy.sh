#!/bin/sh
# Checks tfplan with policy/mail.rego: prints what it denies and exits with 1, or exits
# with 0. The JSON of a plan contains secrets, so that no file gets it.
# OPA names the Open Policy Agent, default: opa. TF_CLI names the CLI, default: terraform.
set -eu

plan=$("${TF_CLI:-terraform}" show -json tfplan)
denied=$(printf '%s' "$plan" | "${OPA:-opa}" eval --stdin-input --data policy/mail.rego --format raw 'concat("\n", data.mail.deny)')
[ -z "$denied" ] || { printf 'The policy denies this plan:\n%s\n' "$denied" >&2; exit 1; }
