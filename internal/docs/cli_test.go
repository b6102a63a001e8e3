package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/docs/schemajson"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// TestAccLikeTheCLI compares the document with the CLI's, for the features that the CLI
// supports.
func TestAccLikeTheCLI(t *testing.T) {
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set")
	}
	t.Parallel()
	server := provider.NewServer(provider.New("test")())
	text, err := schemajson.Document(t.Context(), "registry.terraform.io/mailhost/mailhost", server)
	assert.NilError(t, err)
	ours, theirs := sections(t, text), sections(t, fromCLI(t))
	for name, want := range theirs {
		assert.Check(t, is.DeepEqual(ours[name], want), name)
		delete(ours, name)
	}
	for name := range ours {
		t.Logf("the CLI does not support %s", name)
	}
}

// sections returns the sections of the only provider in a document.
func sections(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var document struct {
		FormatVersion string                    `json:"format_version"`
		Schemas       map[string]map[string]any `json:"provider_schemas"`
	}
	err := json.Unmarshal(text, &document)
	assert.Assert(t, err == nil, "%v in %.1000s", err, text)
	assert.Assert(t, document.FormatVersion == "1.0" && len(document.Schemas) == 1, "format %s with %d providers", document.FormatVersion, len(document.Schemas))
	for name, found := range document.Schemas {
		// OpenTofu has another registry.
		assert.Check(t, strings.HasSuffix(name, "/mailhost/mailhost"), "the provider is %s", name)
		return found
	}
	return nil
}

// fromCLI builds the provider and returns the CLI's document.
func fromCLI(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "cli.tfrc"), "CHECKPOINT_DISABLE=1")
		if name != "go" {
			cmd.Dir = dir
		}
		output, err := cmd.Output()
		assert.Assert(t, err == nil, "%s: %v\n%s", cmd, err, output)
		return output
	}
	write(t, filepath.Join(dir, "cli.tfrc"), `provider_installation {
  dev_overrides {
    "registry.terraform.io/mailhost/mailhost" = "`+dir+`"
    "registry.opentofu.org/mailhost/mailhost" = "`+dir+`"
  }
}
`)
	write(t, filepath.Join(dir, "main.tf"), `terraform {
  required_providers {
    mailhost = { source = "mailhost/mailhost" }
  }
}
`)
	run("go", "build", "-o", filepath.Join(dir, "terraform-provider-mailhost"), "../..")
	return run(cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform"), "providers", "schema", "-json")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(name, []byte(text), 0o600))
}
