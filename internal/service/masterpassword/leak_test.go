package masterpassword_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

const leaky = `
terraform {
  required_providers {
    mailhost = {
      source = "mailhost/mailhost"
    }
  }
}

provider "mailhost" {
  embedded = {}
}

variable "given" {
  type      = string
  sensitive = true
}

variable "write_only" {
  type      = string
  ephemeral = true
}

resource "mailhost_master_password" "given" {
  name  = "given"
  value = var.given
}

resource "mailhost_master_password" "write_only" {
  name             = "write-only"
  value_wo         = var.write_only
  value_wo_version = 1
}

resource "mailhost_master_password" "generated" {
  name     = "generated"
  generate = true
}
`

// TestSecretsDoNotLeak runs the CLI with all logs. No secret may be in them, and the
// secret of value_wo must not be in any file: the plan, the state or the account's
// database.
func TestSecretsDoNotLeak(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	const given, writeOnly = "the-given-secret", "the-write-only-secret"
	assert.NilError(t, os.WriteFile(filepath.Join(c.dir, "main.tf"), []byte(leaky), 0o600))
	c.env = append(c.env, "TF_LOG=trace", "TF_VAR_given="+given, "TF_VAR_write_only="+writeOnly)
	logs := c.run(t, "init") + c.run(t, "plan", "-out=plan") + c.run(t, "apply", "plan") + c.run(t, "plan", "-detailed-exitcode") +
		c.run(t, "apply", "-auto-approve", "-replace=mailhost_master_password.write_only")
	files := c.files(t)
	generated := regexp.MustCompile(`"generated_secret": "(.{20,})"`).FindSubmatch(files[filepath.Join(c.dir, "terraform.tfstate")])
	assert.Assert(t, generated != nil, "the generated secret is not in the state")
	for name, secret := range map[string]string{"value": given, "value_wo": writeOnly, "generated_secret": string(generated[1])} {
		assert.Check(t, !strings.Contains(logs, secret), "the logs have the secret of %s", name)
	}
	assert.Check(t, strings.Contains(logs, "[TRACE]") && strings.Contains(logs, "create-master-password"), "the logs lack the expected lines")
	var seen []string
	for name, content := range files {
		if bytes.Contains(content, []byte(given)) {
			seen = append(seen, filepath.Base(name))
		}
		assert.Check(t, !bytes.Contains(content, []byte(writeOnly)), "%s has the secret of value_wo", name)
	}
	if len(seen) < 2 { // plan and state
		t.Errorf("the secret of value is in %v only: want the plan and the state", seen)
	}
}

// cli runs a CLI with a provider built for the test.
type cli struct {
	path, dir string
	env       []string
}

func newCLI(t *testing.T) *cli {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set")
	}
	path, err := exec.LookPath(cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform"))
	assert.NilError(t, err)
	home := t.TempDir()
	assert.NilError(t, localcli.Install(t.Context(), "../../..", home))
	c := &cli{path: path, dir: t.TempDir(), env: localcli.Environment(os.Environ(), home, home)}
	product, number, err := localcli.ParseVersion(c.run(t, "version"))
	assert.NilError(t, err)
	if version.Must(version.NewVersion(number)).Core().LessThan(version.Must(version.NewVersion("1.11.0"))) {
		t.Skipf("%s %s has no write-only attributes", product, number)
	}
	return c
}

// run runs a command, which must succeed, and returns its output.
func (c *cli) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.path, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	assert.Assert(t, err == nil, "%s: %v\n%s", strings.Join(args, " "), err, out)
	return string(out)
}

// files returns the files of the working directory, including those in archives.
func (c *cli) files(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	assert.NilError(t, filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		all[path], err = os.ReadFile(path)
		return err
	}))
	plan, err := zip.OpenReader(filepath.Join(c.dir, "plan"))
	assert.NilError(t, err)
	defer plan.Close()
	for _, f := range plan.File {
		r, err := f.Open()
		assert.NilError(t, err)
		all[filepath.Join("plan", f.Name)], err = io.ReadAll(r)
		assert.NilError(t, err)
	}
	return all
}
