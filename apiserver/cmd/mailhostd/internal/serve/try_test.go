package serve_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTry checks the environment and the exit code of the command, and that the server ends with it.
func TestTry(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	t.Parallel()
	environ := []string{"MAILHOST_BASE_URL=https://mail.example.com", "MAILHOST_DATA_DIR=x", "PATH=" + os.Getenv("PATH")}
	for _, tt := range []struct {
		args   []string
		code   int
		stdout string
	}{
		{[]string{"--", "sh", "-c", "exit 7"}, 7, ""},
		{[]string{"sh", "-c", `kill -KILL $$`}, 128 + 9, ""},
		{[]string{"echo", "--fixture"}, 0, "--fixture\n"},
		{[]string{"--fixture", mailhostdtest.FixturePath, "--", "sh", "-c", `echo $MAILHOST_ACCOUNT_ID`}, 0, "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10\n"},
		{[]string{"sh", "-c", `env | grep -c ^MAILHOST_`}, 0, "4\n"},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, environ, append([]string{"try"}, tt.args...)...)
		assert.Check(t, code == tt.code && stdout == tt.stdout && stderr == "", "%v: exit code %d, stdout %q, stderr %q; want %d, %q", tt.args, code, stdout, stderr, tt.code, tt.stdout)
	}
	print := []string{"try", "--seed", "7", "sh", "-c", `echo $MAILHOST_ACCOUNT_ID $MAILHOST_TOKEN`}
	_, first, _ := mailhostdtest.RunWith(t, environ, print...)
	_, second, _ := mailhostdtest.RunWith(t, environ, print...)
	assert.Check(t, first == second && len(first) >= 100, "two runs with a seed: %q, %q", first, second)
	_, stdout, _ := mailhostdtest.RunWith(t, environ, "try", "--", "sh", "-c", `echo "$MAILHOST_BASE_URL" "$MAILHOST_CONTROL_URL"`)
	urls := strings.Fields(strings.ReplaceAll(stdout, "http://", ""))
	assert.Assert(t, len(urls) == 2, "the command printed %q", stdout)
	for _, address := range urls {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = c.Close()
			t.Errorf("a server is still running at %s", address)
		}
	}
}

// TestTestFlags checks the flags for tests: recorded requests are replayed, and strict requests are refused.
func TestTestFlags(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "recording")
	environ := []string{"PATH=" + os.Getenv("PATH")}
	request := func(query string) string {
		return `curl -s -H "Authorization: Bearer $MAILHOST_TOKEN" "$MAILHOST_BASE_URL/v1/public/accounts/$MAILHOST_ACCOUNT_ID/workspaces` + query + `"`
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--record", file, "sh", "-c", request("?page_size=9")}, `"Default"`},
		{[]string{"--replay", file, "sh", "-c", request("?page_size=9")}, `"Default"`},
		{[]string{"--replay", file, "sh", "-c", request("")}, "the recording has no response"},
		{[]string{"--strict", "sh", "-c", request("?pagesize=9")}, `"extra_forbidden"`},
		{[]string{"--hostile", "sh", "-c", `curl -s "$MAILHOST_CONTROL_URL/faults"`}, `"jitter":true`},
		{[]string{"--fixture", mailhostdtest.FixturePath, "sh", "-c", `curl -s "$MAILHOST_CONTROL_URL/accounts/$(curl -s "$MAILHOST_CONTROL_URL/accounts" -d '{}' | cut -d '"' -f 4)/fixture"`}, `"taken":["`},
		{[]string{"sh", "-c", `curl -s "$MAILHOST_CONTROL_URL/accounts" -d '{}'; curl -s "$MAILHOST_CONTROL_URL/accounts"`}, `"isolated":true}]`},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, environ, append([]string{"try"}, tt.args...)...)
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, tt.want), "%v: exit code %d, stdout %q, stderr %q", tt.args, code, stdout, stderr)
	}
}

// TestTryForwardsSignals checks that a signal reaches the command, which then ends in its own time.
func TestTryForwardsSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	t.Parallel()
	temp := t.TempDir()
	self, err := os.Executable()
	assert.NilError(t, err)
	c := exec.CommandContext(t.Context(), self, "try", "--", "sh", "-c", `trap 'echo got it; exit 3' TERM; echo; while :; do sleep 0.05; done`)
	c.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1", "TMPDIR="+temp)
	out, err := c.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, c.Start())
	_, err = out.Read(make([]byte, 1)) // it runs
	assert.NilError(t, err)
	assert.NilError(t, c.Process.Signal(syscall.SIGTERM))
	text, err := io.ReadAll(out)
	assert.Check(t, err == nil && strings.Contains(string(text), "got it"), "the command printed %q, %v", text, err)
	if _ = c.Wait(); c.ProcessState.ExitCode() != 3 {
		t.Errorf("%s", c.ProcessState)
	}
	left, err := os.ReadDir(temp)
	assert.Check(t, err == nil && len(left) == 0, "left: %v, %v", left, err)
}
