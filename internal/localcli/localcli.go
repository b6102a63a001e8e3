// Package localcli makes a Terraform or OpenTofu CLI use a locally built provider, for benchmarks and
// for tests that run a CLI like users. The CLI finds providers nowhere else, and ignores the user's own
// settings. The package must not import the provider.
package localcli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Version is the version under which the provider is installed.
const Version = "0.2.0"

// Install builds the provider of the module at root into a filesystem mirror below dir. It writes a CLI
// configuration for [Environment] that allows no other source.
func Install(ctx context.Context, root, dir string) error {
	mirror, built := filepath.Join(dir, "mirror"), filepath.Join(dir, "provider")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+Version, "-o", built, ".")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the provider does not compile: %w\n%s", err, out)
	}
	name := "terraform-provider-mailhost_v" + Version
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	// Terraform and OpenTofu look for a source without a host in different registries.
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		folder := filepath.Join(mirror, host, "mailhost", "mailhost", Version, runtime.GOOS+"_"+runtime.GOARCH)
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.Link(built, filepath.Join(folder, name))); err != nil {
			return err
		}
	}
	config := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %s\n  }\n}\n", strconv.Quote(filepath.ToSlash(mirror)))
	return os.WriteFile(configFile(dir), []byte(config), 0o600)
}

func configFile(dir string) string { return filepath.Join(dir, "cli.tfrc") }

// Environment returns the environment for a CLI with the provider in dir: the user's variables without those
// that change the CLI's behavior, the place of its files, or the provider's account. Logging variables stay.
func Environment(environ []string, dir, home string) []string {
	var kept []string
	for _, v := range environ {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		steers := strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "TF_LOG")
		if !steers && !strings.HasPrefix(name, "MAILHOST_") && !strings.HasPrefix(name, "XDG_") && name != "HOME" {
			kept = append(kept, v)
		}
	}
	return append(kept,
		"HOME="+home,
		"TF_CLI_CONFIG_FILE="+configFile(dir),
		"TF_IN_AUTOMATION=1", // no hints for the next command
		"TF_INPUT=0",
		"CHECKPOINT_DISABLE=1", // no check for newer versions
	)
}

var versionLine = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) v(\S+)`)

// ParseVersion parses the output of a CLI's version command.
func ParseVersion(out string) (product, number string, err error) {
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return "", "", fmt.Errorf("this is neither Terraform nor OpenTofu: %s", out)
	}
	return m[1], m[2], nil
}
