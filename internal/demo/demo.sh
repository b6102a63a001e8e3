#!/usr/bin/env bash
# Shows the main job: builds the provider, installs it for this demo only, applies a copy of
# examples/quickstart to an embedded account, and checks that a second plan is empty.
#
#   internal/demo/demo.sh apply VERSION   applies, with the provider installed as this version
#   internal/demo/demo.sh destroy         destroys what was applied, and removes .demo
#
# Everything is in .demo, which git ignores. Your own CLI settings are neither read nor changed.
set -eo pipefail
cd "$(dirname "$0")/../.."

demo=$PWD/.demo
config=$demo/quickstart
advice=

heading() { printf '\n== %s\n' "$*"; }
indent() { sed 's/^\(..*\)$/   \1/'; }
say() { printf '%s\n' "$*" | indent; }
fail() { printf '\nFailed: %s\n%s' "$*" "$advice" >&2; exit 1; }

# run runs the CLI in the copy, without the variables that would change what it does, where it
# keeps its files, or which account the provider uses. It removes colours, but the frames
# around warnings stay, which -no-color would remove.
run() (
	for name in $(env | sed -nE 's/^((TF|MAILHOST|XDG)_[A-Za-z0-9_]*)=.*/\1/p'); do
		case $name in TF_LOG*) ;; *) unset "$name" ;; esac
	done
	export HOME="$demo/home" TF_CLI_CONFIG_FILE="$demo/cli.tfrc" TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1
	cd "$config"
	"$cli" "$@" 2>&1 | sed $'s/\033\\[[0-9;]*m//g'
)

# outcomes keeps the lines that say what an apply or a destroy has done, warnings and errors.
outcomes() { awk '/^(╷|│|╵)/ || / complete after / && !/: Read complete / || /complete! Resources:/ { print "   " $0; fflush() }'; }

open_cli() {
	heading "Terraform or OpenTofu"
	cli=$(internal/demo/cli.sh)
	name=$(basename "$cli")
	mkdir -p "$config" "$demo/home"
	: >>"$demo/cli.tfrc" # the CLI warns of a missing one
	say "$(run version | head -1): $cli"
}

# init forgets the lock file: it may be of another build of the provider.
init() {
	heading "$name init"
	rm -f "$config/.terraform.lock.hcl"
	run init >"$demo/init.log" || { indent <"$demo/init.log"; fail "$name init; its message stands above"; }
	say "in .demo/quickstart, a copy of examples/quickstart"
}

build() {
	heading "Build the provider and install it for this demo only"
	say "go build; the first time takes a few minutes ..."
	rm -rf "$demo/mirror"
	go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$1" -o "$demo/provider" . || fail "the provider does not compile"
	for host in registry.terraform.io registry.opentofu.org; do
		dir=$demo/mirror/$host/mailhost/mailhost/$1/$(go env GOOS)_$(go env GOARCH)
		mkdir -p "$dir"
		cp "$demo/provider" "$dir/terraform-provider-mailhost_v$1"
	done
	printf 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' "$demo/mirror" >"$demo/cli.tfrc"
	cp -R examples/quickstart/. "$config"
	say "mailhost/mailhost $1: .demo/mirror"
	say "Your own CLI settings are neither read nor changed."
}

# plan prints a plan and returns its exit code: 2 if it has changes. A long plan is summed up.
plan() {
	code=0
	run plan -detailed-exitcode "$@" >"$demo/plan.log" || code=$?
	case $code in
		0) return ;;
		2) ;;
		*) indent <"$demo/plan.log"; fail "$name plan; its message stands above" ;;
	esac
	if [ "$(wc -l <"$demo/plan.log")" -lt 80 ]; then
		grep -Ev ': (Refreshing state|Reading|Read complete)' "$demo/plan.log" | indent
		return
	fi
	sed -nE 's/^  # ([a-z_]+)\..* (will|must) be (.*)$/\1 \3/p' "$demo/plan.log" | sort | uniq -c |
		awk '{ type = $2; count = $1; sub(/^ *[0-9]+ [a-z_]+ /, ""); printf "   %3d  %-26s %s\n", count, type, $0 }'
	grep -E '^(╷|│|╵|Plan:)' "$demo/plan.log" | indent
}

apply() {
	start=$SECONDS
	umask 077 # the state holds secrets
	mkdir -p "$demo"
	echo '*' >"$demo/.gitignore"
	open_cli
	build "$1"
	init
	heading "$name plan"
	plan -out="$demo/plan"
	if [ $code = 0 ]; then say "No changes."; fi
	heading "$name apply"
	if [ $code = 0 ]; then
		say "Nothing to apply."
	else
		run apply "$demo/plan" | outcomes || fail "$name apply; its message stands above"
	fi
	rm -f "$demo/plan" # it holds what the state holds
	heading "A second plan, which has to be empty"
	plan
	if [ $code != 0 ]; then
		fail "the second plan is not empty, although nothing was changed after the apply; this is a bug in the provider"
	fi
	say "It is: no changes."
	heading "What there is now"
	run state list | sed -nE '/^data\./!s/^([a-z_]+)\..*/\1/p' | sort | uniq -c | awk '{ printf "   %3d  %s\n", $1, $2 }'
	heading "Outputs"
	run output | indent
	heading "Where it lies"
	say "the account  .demo/quickstart/.mailhost/mailhost.db"
	say "the state    .demo/quickstart/terraform.tfstate"
	heading "What to do next"
	say "Change a name in examples/quickstart/mailboxes.csv and run make demo again.
Or look around yourself:
  export TF_CLI_CONFIG_FILE='$demo/cli.tfrc'
  cd '$config'
  $cli plan
Remove everything: make demo-destroy"
	printf '\nDone in %s s.\n' $((SECONDS - start))
}

destroy() {
	if [ ! -e "$demo" ]; then
		echo "There is no demo to remove: .demo does not exist."
		return
	fi
	if [ -e "$config/terraform.tfstate" ]; then
		advice="The account is a file of the demo. To remove it without a destroy, delete $demo
"
		open_cli
		init
		heading "$name destroy"
		run destroy -auto-approve | outcomes || fail "$name destroy; its message stands above"
		left=$(run state list)
		[ -z "$left" ] || fail "the destroy left these behind:
$left"
	fi
	heading "Remove the demo's folder"
	rm -rf "$demo"
	say ".demo is gone, and with it the account and the state."
}

"$@"
