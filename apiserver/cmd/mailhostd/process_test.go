package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
)

func TestSignalEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			database, _ := initialize(t)
			s := spawn(t, database)
			if err := s.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code := s.exitCode(t); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			s.log.Wait(t, "shut down")
		})
	}
}

// TestHangupWithoutACertificate checks that SIGHUP ends a server without a certificate,
// because it has nothing to reload.
func TestHangupWithoutACertificate(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.log.Wait(t, "there is nothing to reload")
	s.as(t, owner).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
}

func TestSecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := spawn(t, database, "--shutdown-timeout", "1h")
	s.as(t, owner).Domain("example.com")
	begin(t, s, owner, mailbox("example.com", "never"))
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.log.Wait(t, "shutting down")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.exitCode(t)
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGTERM {
		t.Errorf("%v; want an end by signal", s.cmd.ProcessState)
	}
	if strings.Contains(s.log.String(), "goroutine ") {
		t.Errorf("log:\n%s", s.log)
	}
}
