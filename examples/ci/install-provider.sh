#!/bin/sh
# Installs a release of the provider where Terraform and OpenTofu find it without a
# registry: install-provider.sh 0.2.0, or for another platform, to write a lock file:
# install-provider.sh 0.2.0 linux_amd64
#
# PLUGINS is the folder of the installed providers, default: ~/.terraform.d/plugins.
# MAILHOST_RELEASES is where the releases are, with one folder for each tag; default:
# GitHub. Needs curl or wget.
set -eu
version=${1:?"usage: install-provider.sh VERSION [PLATFORM]"}
version=${version#v}
releases=${MAILHOST_RELEASES:-https://github.com/mailhost/terraform-provider-mailhost/releases/download}
plugins=${PLUGINS:-$HOME/.terraform.d/plugins}
mkdir -p "$plugins"
plugins=$(cd "$plugins" && pwd)

os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
i?86) arch=386 ;;
arm*) arch=arm ;;
*) echo "There is no release for $(uname -m)." >&2; exit 1 ;;
esac
archive=terraform-provider-mailhost_${version}_${2:-${os}_${arch}}.zip
sums=terraform-provider-mailhost_${version}_SHA256SUMS

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for file in "$archive" "$sums"; do
	if command -v curl >/dev/null; then
		curl -fsSLO "$releases/v$version/$file"
	else
		wget -q "$releases/v$version/$file"
	fi
done
grep "  $archive\$" "$sums" >expected || {
	echo "$sums does not name $archive: the release $version is incomplete, or not for this platform." >&2
	exit 1
}
if command -v sha256sum >/dev/null; then sha256sum -c expected; else shasum -a 256 -c expected; fi

# Both CLIs read an archive in this folder as it is.
for host in registry.terraform.io registry.opentofu.org; do
	mkdir -p "$plugins/$host/mailhost/mailhost"
	cp "$archive" "$plugins/$host/mailhost/mailhost/"
done
echo "installed mailhost/mailhost $version in $plugins"
