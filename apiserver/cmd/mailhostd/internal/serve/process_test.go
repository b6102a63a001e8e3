package serve_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestSignalEndsTheServer checks that SIGTERM and SIGINT end a server. SIGHUP does not, also if there
// is no certificate to reload.
func TestSignalEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			database, owner := mailhostdtest.Initialize(t)
			s := mailhostdtest.Spawn(t, database)
			hangUp(t, s)
			s.Log.Wait(t, "there is nothing to reload")
			s.As(t, owner).Get("/mailboxes").Want(http.StatusOK)
			assert.NilError(t, s.Cmd.Process.Signal(signal))
			assert.Check(t, is.Equal(s.ExitCode(t), cli.ExitOK), "exit code")
			s.Log.Wait(t, "shut down")
		})
	}
}

func TestSecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Spawn(t, database, "--shutdown-timeout", "1h")
	s.As(t, owner).Domain("example.com")
	begin(t, s, owner, mailhostdtest.Mailbox("example.com", "never"))
	assert.NilError(t, s.Cmd.Process.Signal(syscall.SIGTERM))
	s.Log.Wait(t, "shutting down")
	assert.NilError(t, s.Cmd.Process.Signal(syscall.SIGTERM))
	s.ExitCode(t)
	status, ok := s.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	assert.Check(t, ok && status.Signal() == syscall.SIGTERM, "%v; want an end by signal", s.Cmd.ProcessState)
	assert.Check(t, !strings.Contains(s.Log.String(), "goroutine "), "log:\n%s", s.Log)
}

func TestMain(m *testing.M) { mailhostdtest.Main(m) }
