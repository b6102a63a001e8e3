#!/usr/bin/env bash
# Prints the path of the CLI to use: the one that TF_CLI names, else terraform or tofu on
# PATH, else the Terraform in .demo/bin, which is installed if it is missing.
set -eo pipefail
cd "$(dirname "$0")/../.."

fail() { printf '\nFailed: %s\n' "$*" >&2; exit 1; }

bin=$PWD/.demo/bin
if [ -n "$TF_CLI" ]; then
	cli=$(command -v "$TF_CLI") || fail "TF_CLI names \"$TF_CLI\", which can't be run; name another, or unset it to use terraform or tofu on PATH"
elif ! cli=$(command -v terraform || command -v tofu || command -v "$bin/terraform"); then
	echo "Neither terraform nor tofu is on PATH. Installing Terraform from releases.hashicorp.com into .demo/bin ..." >&2
	mkdir -p "$bin"
	echo '*' >.demo/.gitignore
	cli=$(go run ./internal/demo "$bin") || fail "Terraform can't be installed.
Install one of these, so that it is on PATH, and run the same command again:
  Terraform 1.8 or later: https://developer.hashicorp.com/terraform/install
  OpenTofu 1.7 or later: https://opentofu.org/docs/intro/install/
Or name an executable that is elsewhere: make demo TF_CLI=/path/to/terraform
Or unpack Terraform's executable to $bin/terraform"
fi

version=$(CHECKPOINT_DISABLE=1 "$cli" version | grep -Eo '^(Terraform|OpenTofu) v[0-9]+\.[0-9]+') ||
	fail "$cli is neither Terraform nor OpenTofu; name one of them in TF_CLI"
case $version in
	"Terraform v0."* | "Terraform v1."[0-7] | "OpenTofu v1."[0-6])
		fail "$version is too old; install Terraform 1.8, OpenTofu 1.7 or later, or name another CLI in TF_CLI" ;;
esac
case $cli in
	/*) echo "$cli" ;;
	*) echo "$PWD/$cli" ;;
esac
