package commands_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// TestTranscript checks what people read, and what the commands refuse.
func TestTranscript(t *testing.T) { mailhostdtest.Transcript(t, "testdata/commands.txt") }

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      []string
		lifecycle bool
	}{{[]string{"openapi"}, true}, {[]string{"openapi", "--published-only"}, false}} {
		want, err := httpapi.Document(tt.lifecycle)
		assert.NilError(t, err)
		if code, stdout, stderr := mailhostdtest.Run(t, tt.args...); code != cli.ExitOK || stdout != string(want) || stderr != "" {
			t.Errorf("%v: exit code %d, %d bytes, stderr %q; want the %d bytes of the contract", tt.args, code, len(stdout), stderr, len(want))
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, _ := mailhostdtest.Run(t, "serve", "--version")
	assert.Check(t, code == cli.ExitOK && strings.HasPrefix(stdout, "mailhostd ") && strings.Contains(stdout, " (go"), "exit code %d, %s", code, stdout)
}
