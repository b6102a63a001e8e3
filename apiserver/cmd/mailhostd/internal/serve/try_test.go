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

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestTry checks the environment and the exit code of the command, and that the server is gone when it has ended.
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
		stderr string
	}{
		{[]string{"--", "sh", "-c", "exit 7"}, 7, "", ""},
		{[]string{"sh", "-c", `kill -KILL $$`}, 128 + 9, "", ""},
		{[]string{"echo", "--fixture"}, 0, "--fixture\n", ""},
		{[]string{"--fixture", mailhostdtest.FixturePath, "--", "sh", "-c", `echo $MAILHOST_ACCOUNT_ID`}, 0, "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10\n", ""},
		{[]string{"sh", "-c", `env | grep -c ^MAILHOST_`}, 0, "4\n", ""},
		{[]string{"/does/not/exist"}, 127, "", "mailhostd: "},
		{[]string{"--"}, cli.ExitUsage, "", "name the command"},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, environ, append([]string{"try"}, tt.args...)...)
		if code != tt.code || stdout != tt.stdout || !strings.Contains(stderr, tt.stderr) || (tt.stderr == "") != (stderr == "") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q; want %d, %q, %q", tt.args, code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
		}
	}
	_, stdout, _ := mailhostdtest.RunWith(t, environ, "try", "--", "sh", "-c", `echo "$MAILHOST_BASE_URL" "$MAILHOST_CONTROL_URL"`)
	urls := strings.Fields(strings.ReplaceAll(stdout, "http://", ""))
	if len(urls) != 2 {
		t.Fatalf("the command printed %q", stdout)
	}
	for _, address := range urls {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = c.Close()
			t.Errorf("a server is still running at %s", address)
		}
	}
}

// TestTryForwardsSignals checks that a signal reaches the command, which ends in its own time, and that a
// killed server leaves nothing that the next one does not remove.
func TestTryForwardsSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	t.Parallel()
	temp := t.TempDir()
	start := func(script string) (*exec.Cmd, io.Reader) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), self, "try", "--", "sh", "-c", script)
		c.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1", "TMPDIR="+temp)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return c, out
	}
	c, out := start(`trap 'echo got it; exit 3' TERM; echo; while :; do sleep 0.05; done`)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil || !strings.Contains(string(text), "got it") {
		t.Errorf("the command printed %q, %v", text, err)
	}
	if _ = c.Wait(); c.ProcessState.ExitCode() != 3 {
		t.Errorf("%s", c.ProcessState)
	}
	stores := func() []string {
		paths, err := filepath.Glob(filepath.Join(temp, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	if left := stores(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	c, _ = start(`echo; sleep 0.5`)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	killed := stores()
	if len(killed) != 1 {
		t.Fatalf("a killed server left %v; want a store", killed)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(killed[0], long, long); err != nil {
		t.Fatal(err)
	}
	c, _ = start(`echo`)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if left := stores(); len(left) > 0 {
		t.Errorf("the next server left %v", left)
	}
}
