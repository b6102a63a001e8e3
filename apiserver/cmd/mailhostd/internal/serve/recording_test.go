package serve_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestRecordingFile checks that a recording is a new file, which exists only if it contains a request.
func TestRecordingFile(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	server, owner := mailhostdtest.Start(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "host.yaml")
	environ := []string{"PATH=" + os.Getenv("PATH"), "MAILHOST_TOKEN=" + owner.Token}
	run := func(name, command string) (code int, stderr string) {
		t.Helper()
		code, _, stderr = mailhostdtest.RunWith(t, environ, "proxy", "--upstream", server.URL, "--record", name, "--", "sh", "-c", command)
		return code, stderr
	}
	curl := `curl -s -H "Authorization: Bearer $MAILHOST_TOKEN" "$MAILHOST_BASE_URL/v1/public/accounts/` + owner.AccountID + `/mailboxes"`
	for range 2 { // the first one leaves no file
		code, stderr := run(file, "true")
		_, err := os.Stat(file)
		assert.Check(t, code == 0 && strings.Contains(stderr, "so that "+file+" was not written") && errors.Is(err, os.ErrNotExist), "%d, %s, %v", code, stderr, err)
	}
	code, stderr := run(filepath.Join(folder, "none", "host.yaml"), "echo started >&2")
	assert.Check(t, code == cli.ExitFailure && strings.Contains(stderr, "--record: ") && !strings.Contains(stderr, "started"), "%d, %s", code, stderr)
	code, stderr = run(file, curl)
	first, err := os.ReadFile(file)
	assert.Check(t, code == 0 && err == nil && strings.Contains(string(first), "/mailboxes"), "%d, %s, %v", code, stderr, err)
	code, stderr = run(file, "echo started >&2")
	assert.Check(t, code == cli.ExitFailure && strings.Contains(stderr, "file exists") && !strings.Contains(stderr, "started"), "%d, %s", code, stderr)

	// Another program creates the file while the proxy runs.
	other := filepath.Join(folder, "other.yaml")
	code, stderr = run(other, curl+`; echo precious > `+other)
	text, err := os.ReadFile(other)
	assert.Check(t, code == cli.ExitFailure && err == nil && string(text) == "precious\n", "%d, %s, %v", code, text, err)
	_, after, _ := strings.Cut(stderr, "the recording is in ")
	beside, _, _ := strings.Cut(after, ": ")
	text, err = os.ReadFile(beside)
	assert.Check(t, err == nil && strings.Contains(string(text), "/mailboxes"), "%s: %s, %v", stderr, text, err)
}
