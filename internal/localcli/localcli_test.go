package localcli_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

func TestParseVersion(t *testing.T) {
	for out, want := range map[string]string{
		"Terraform v1.8.0-rc1\non linux_amd64\n":        "Terraform 1.8.0-rc1",
		"Warning: something first\n\nOpenTofu v1.7.0\n": "OpenTofu 1.7.0",
		"Terragrunt v1.0.0\n":                           " ",
	} {
		product, number, err := localcli.ParseVersion(out)
		got := product + " " + number
		assert.Check(t, got == want && (err == nil) == (want != " "), "%q is %q, %v; want %q", out, got, err, want)
	}
}

func TestEnvironment(t *testing.T) {
	got := localcli.Environment([]string{
		"PATH=/bin", "HOME=/home/jane", "XDG_CONFIG_HOME=/home/jane/.config", "TF_VAR_dns_ttl=1", "TF_CLI_ARGS=-no-color", "tf_workspace=other", "TF_DATA_DIR=/tmp", "TF_LOG=TRACE",
		"TF_LOG_PATH=log", "MAILHOST_TOKEN=secret", "MAILHOST_DATA_DIR=/var", "TFOO=1", "HTTPS_PROXY=http://proxy",
	}, "/demo", "/demo/home")
	want := []string{
		"PATH=/bin", "TF_LOG=TRACE", "TF_LOG_PATH=log", "TFOO=1", "HTTPS_PROXY=http://proxy", "HOME=/demo/home",
		"TF_CLI_CONFIG_FILE=/demo/cli.tfrc", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
	}
	assert.Check(t, slices.Equal(got, want), "environment is %v, want %v", got, want)
}
