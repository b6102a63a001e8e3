package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// version is the version under which all providers are installed.
const version = "0.1.0"

// The other sides, at the versions that are compared.
const (
	nullPackage = "github.com/terraform-providers/terraform-provider-null" // the module's name in its go.mod
	nullVersion = "01034f80eb238732fd9e8673582e0e770cfab578"               // v3.2.4, which is no version of a Go module

	pocketBaseModule  = "github.com/pocketbase/pocketbase"
	pocketBaseVersion = "v0.39.9" // the last that Go 1.26 builds
)

// pocketBaseMain is the program of the temporary module that embeds PocketBase.
//
//go:embed testdata/pocketbase/main.go
var pocketBaseMain embed.FS

// unavailableError says why another side can't be measured.
type unavailableError struct {
	name string
	err  error
}

// Error implements error.
func (e *unavailableError) Error() string {
	return fmt.Sprintf("%s is not available: %s", e.name, strings.Join(strings.Fields(e.err.Error()), " "))
}

// Unwrap is for package errors.
func (e *unavailableError) Unwrap() error { return e.err }

func (b *bench) mirror() string      { return filepath.Join(b.scratch, "mirror") }
func (b *bench) bin(n string) string { return filepath.Join(b.scratch, "bin", n) }

// build builds the provider and mailhostd, and installs the provider for the CLI.
func (b *bench) build(ctx context.Context) error {
	b.progress("building the provider and mailhostd")
	if err := localcli.Install(ctx, localcli.GoBuild(b.root, version, os.Stderr), b.mirror(), version); err != nil {
		return err
	}
	if err := goCommand(ctx, b.root, "build", "-trimpath", "-o", b.bin("mailhostd"), "./apiserver/cmd/mailhostd"); err != nil {
		return err
	}
	return os.WriteFile(b.cliConfig(), []byte(localcli.Config(b.mirror())), 0o600)
}

func (b *bench) cliConfig() string { return filepath.Join(b.scratch, "cli.tfrc") }

// installNull installs hashicorp/null for the CLI, built from Go's module proxy unless
// there is a build of it already.
func (b *bench) installNull(ctx context.Context) error {
	path := b.null
	if path == "" {
		path = b.bin("terraform-provider-null")
		if err := b.fetch(ctx, "hashicorp/null", nullPackage, nullVersion, nullPackage, path); err != nil {
			return err
		}
	}
	return localcli.Add(b.mirror(), "hashicorp/null", version, path)
}

// buildPocketBase builds a server of a collection of mailboxes with PocketBase.
func (b *bench) buildPocketBase(ctx context.Context) error {
	return b.fetch(ctx, "PocketBase", pocketBaseModule, pocketBaseVersion, ".", b.bin("pocketbase"))
}

// fetch builds a package of another module at a version from Go's module proxy, in a
// temporary module. The package "." is that module's own main.go, which imports the other.
func (b *bench) fetch(ctx context.Context, name, module, version, pkg, to string) error {
	if b.offline {
		return &unavailableError{name, fmt.Errorf("-offline is set")}
	}
	b.progress("building %s %s", name, version)
	dir, err := os.MkdirTemp(b.scratch, "module-")
	if err != nil {
		return err
	}
	if pkg == "." {
		text, err := pocketBaseMain.ReadFile("testdata/pocketbase/main.go")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), text, 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"mod", "init", "bench"},
		{"get", module + "@" + version},
		{"mod", "tidy"},
		{"build", "-trimpath", "-o", to, pkg},
	} {
		if args[1] == "tidy" && pkg != "." {
			continue // nothing imports the module, and tidy would drop it
		}
		if err := goCommand(ctx, dir, args...); err != nil {
			return &unavailableError{name, err}
		}
	}
	return nil
}

// goCommand runs the go command in a module. The error has the end of its output.
func goCommand(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, lastLine(out))
	}
	return nil
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
