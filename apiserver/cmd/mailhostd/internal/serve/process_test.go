package serve_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

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
			if err := s.Cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code := s.ExitCode(t); code != cli.ExitOK {
				t.Errorf("exit code %d", code)
			}
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
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.Log.Wait(t, "shutting down")
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ExitCode(t)
	if status, ok := s.Cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("%v; want an end by signal", s.Cmd.ProcessState)
	}
	if strings.Contains(s.Log.String(), "goroutine ") {
		t.Errorf("log:\n%s", s.Log)
	}
}
