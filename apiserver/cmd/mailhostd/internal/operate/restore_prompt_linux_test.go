package operate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// openTerminal returns the two ends of a new terminal, see pty(7).
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be opened: %v", err)
	}
	var number, unlocked int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(arg))); failed != 0 {
			t.Fatal(failed)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(program.Close(), person.Close()) })
	return person, program
}

// TestRestoreAsks checks that nobody can change the database while restore asks, and that a
// signal ends the question and leaves nothing behind.
func TestRestoreAsks(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if code, _, stderr := mailhostdtest.Run(t, "backup", "--database", database, "--output", backup); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	ask := func(act func(person *os.File, interrupt func())) (code int) {
		person, program := openTerminal(t)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			code = commands.Run(ctx, cli.Program{Args: []string{"restore", backup, "--database", database}, Stdin: program, Stdout: program, Stderr: program, Openers: cli.Engines()})
		}()
		var shown strings.Builder
		for buffer := make([]byte, 1024); !strings.Contains(shown.String(), "[y/N]"); {
			n, err := person.Read(buffer)
			if err != nil {
				t.Fatal(err)
			}
			shown.Write(buffer[:n])
		}
		act(person, interrupt)
		apitest.Receive(t, ended)
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(database), ".restore-*")); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, error %v", left, err)
		}
		return code
	}
	previous := func() int {
		all, err := filepath.Glob(database + ".before-restore-*")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	code := ask(func(_ *os.File, interrupt func()) {
		if s, err := sqlite.Open(t.Context(), database, sqlite.Options{LockTimeout: time.Millisecond}); err == nil {
			t.Errorf("the database could be opened, error of closing it: %v", s.Close())
		}
		interrupt()
	})
	if code != cli.ExitFailure || previous() != 0 {
		t.Errorf("interrupted: exit code %d, %d databases were replaced", code, previous())
	}
	code = ask(func(person *os.File, _ func()) { fmt.Fprintln(person, "y") })
	if code != cli.ExitOK || previous() != 1 {
		t.Errorf("after y: exit code %d, %d databases were replaced", code, previous())
	}
}
