// Command docs generates docs/ from the provider's schemas, templates/ and examples/. `go generate` in
// the root of the repository runs it.
//
// It reads the schemas from the provider in process (package schemajson). HashiCorp's tfplugindocs, a tool of
// go.mod, writes and validates the pages. The command requires Go's module cache, but neither a CLI nor a network.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/mailhost/terraform-provider-mailhost/internal/docs/schemajson"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// shortName is the provider's name for tfplugindocs, which supports full addresses of HashiCorp's own
// providers only.
const shortName = "mailhost"

func main() {
	if err := run(context.Background(), "."); err != nil {
		fmt.Fprintf(os.Stderr, "docs were not generated: %v\n", err)
		os.Exit(1)
	}
}

// run writes and validates the pages below dir, which contains templates and examples.
func run(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mailhost-docs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	schema := filepath.Join(scratch, "schema.json")
	if err := writeSchema(ctx, schema); err != nil {
		return err
	}
	flags := []string{"--provider-dir", dir, "--provider-name", shortName, "--providers-schema", schema}
	if err := tfplugindocs(ctx, append([]string{"generate", "--website-temp-dir", filepath.Join(scratch, "site")}, flags...)); err != nil {
		return err
	}
	return tfplugindocs(ctx, append([]string{"validate"}, flags...))
}

// writeSchema writes the provider's schemas for tfplugindocs.
func writeSchema(ctx context.Context, name string) error {
	server := provider.NewServer(provider.New("docs")())
	text, err := schemajson.Document(ctx, shortName, server)
	if err != nil {
		return fmt.Errorf("the provider's schemas: %w", err)
	}
	return os.WriteFile(name, text, 0o600)
}

// tfplugindocs runs the tool in the version of go.mod. It prints the output only after a failure.
func tfplugindocs(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"tool", "tfplugindocs"}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tfplugindocs %s: %w\n%s", args[0], err, output)
	}
	return nil
}
