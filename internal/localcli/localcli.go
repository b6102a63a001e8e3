// Package localcli lets a Terraform or OpenTofu CLI run with a provider that was built here, for the
// benchmarks and for tests that run a CLI as users do. The CLI looks nowhere else, and sees none
// of the user's own settings. The package imports nothing of the provider.
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

// Install builds the provider of the module at root into a filesystem mirror below dir, and
// writes a CLI configuration that knows no other place, for [Environment].
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
	// Terraform and OpenTofu take a source without a host to be in registries of their own.
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

// Environment returns what a CLI with the provider in dir gets of the user's environment: all but
// the variables that would change what it does, where it keeps its own files, or which account
// the provider uses. Logging stays in the user's hands.
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
		"TF_IN_AUTOMATION=1", // no hints on what to type next
		"TF_INPUT=0",
		"CHECKPOINT_DISABLE=1", // no question for newer versions
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
