package localcli_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

func TestParseVersion(t *testing.T) {
	for out, want := range map[string]string{
		"Terraform v1.11.4\non linux_amd64\n":             "Terraform 1.11.4",
		"Terraform v1.8.0-rc1\n":                          "Terraform 1.8.0-rc1",
		"OpenTofu v1.7.0\non darwin_arm64\n":              "OpenTofu 1.7.0",
		"Warning: something first\n\nTerraform v1.15.0\n": "Terraform 1.15.0",
		"Terraform v1.7.5\n":                              "Terraform 1.7.5 is too old; install Terraform 1.8.0",
		"OpenTofu v1.6.2\n":                               "OpenTofu 1.6.2 is too old; install OpenTofu 1.7.0",
		"Terragrunt v1.0.0\n":                             "neither Terraform nor OpenTofu",
		"Terraform vain\n":                                "Malformed version",
	} {
		product, number, err := localcli.ParseVersion(out)
		got := product + " " + number
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%q is %q, want %q", out, got, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := localcli.Environment([]string{
		"PATH=/bin", "HOME=/home/jane", "XDG_CONFIG_HOME=/home/jane/.config", "TF_VAR_dns_ttl=1", "TF_CLI_ARGS=-no-color", "tf_workspace=other", "TF_DATA_DIR=/tmp", "TF_LOG=TRACE",
		"TF_LOG_PATH=log", "MAILHOST_TOKEN=secret", "MAILHOST_DATA_DIR=/var", "TFOO=1", "HTTPS_PROXY=http://proxy",
	}, "/demo/cli.tfrc", "/demo/home")
	want := []string{
		"PATH=/bin", "TF_LOG=TRACE", "TF_LOG_PATH=log", "TFOO=1", "HTTPS_PROXY=http://proxy", "HOME=/demo/home",
		"TF_CLI_CONFIG_FILE=/demo/cli.tfrc", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("environment is %v, want %v", got, want)
	}
}

func TestInstall(t *testing.T) {
	mirror := filepath.Join(t.TempDir(), "mirror")
	for _, content := range []string{"old", "new"} {
		build := func(_ context.Context, path string) error { return os.WriteFile(path, []byte(content), 0o755) }
		if err := localcli.Install(t.Context(), build, mirror, "0.1.0"); err != nil {
			t.Fatal(err)
		}
	}
	platform := runtime.GOOS + "_" + runtime.GOARCH
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		path := filepath.Join(mirror, host, "mailhost", "mailhost", "0.1.0", platform, "terraform-provider-mailhost_v0.1.0")
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s can't be run", path)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
			t.Errorf("%s is %q (%v), want the new build", path, b, err)
		}
	}
}

func TestConfig(t *testing.T) {
	got := localcli.Config(filepath.FromSlash(`/home/jane "j" doe/mirror`))
	if !strings.Contains(got, `path = "/home/jane \"j\" doe/mirror"`) {
		t.Errorf("the path is not quoted:\n%s", got)
	}
	if strings.Contains(got, "direct") || strings.Contains(got, "network_mirror") {
		t.Errorf("providers could come from the network:\n%s", got)
	}
}

func TestCopyConfig(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for name, mode := range map[string]os.FileMode{
		"main.tf": 0o644, "plan.sh": 0o755, "modules/domain/main.tf": 0o644, ".terraform.lock.hcl": 0o644, "terraform.tfstate": 0o644,
		"terraform.tfstate.backup": 0o644, ".terraform/modules/modules.json": 0o644, ".mailhost/mailhost.db": 0o644,
	} {
		path := filepath.Join(from, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := localcli.CopyConfig(to, from); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{} // maps an existing file to whether it is executable
	err := filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		rel, _ := filepath.Rel(to, path)
		got[filepath.ToSlash(rel)] = info.Mode()&0o100 != 0
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]bool{"main.tf": false, "plan.sh": runtime.GOOS != "windows", "modules/domain/main.tf": false}; !maps.Equal(got, want) {
		t.Errorf("the copy holds %v, want %v", got, want)
	}
}
