package operate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// dialog is mailhostd restore with a person at its terminal.
type dialog struct {
	person *os.File
	code   chan int
}

func startRestore(ctx context.Context, t *testing.T, args ...string) dialog {
	t.Helper()
	person, program := mailhostdtest.OpenTerminal(t)
	d := dialog{person, make(chan int, 1)}
	go func() {
		d.code <- commands.Run(ctx, cli.Program{Args: append([]string{"restore"}, args...), Stdin: program, Stdout: program, Stderr: program})
		fmt.Fprint(program, "] ") // so that shown returns
	}()
	return d
}

// shown returns the output of the command until it asks or ends.
func (d dialog) shown(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for buffer := make([]byte, 1024); !strings.HasSuffix(text.String(), "] "); {
		n, err := d.person.Read(buffer)
		assert.NilError(t, err)
		text.Write(buffer[:n])
	}
	return text.String()
}

// descriptors returns the number of this process's descriptors of a file.
func descriptors(t *testing.T, path string) (n int) {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	assert.NilError(t, err)
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && to == path {
			n++
		}
	}
	return n
}

// TestRestoreAsks checks that nobody can change the database while restore asks, that only a yes restores it and no
// other reply leaves files behind, and that a server which starts during the question uses the restored database.
func TestRestoreAsks(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if code, _, stderr := mailhostdtest.Run(t, "backup", "--database", database, "--output", backup); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	ask := func(act func(person *os.File, interrupt func())) (code int, end string) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		d := startRestore(ctx, t, backup, "--database", database)
		asked := d.shown(t)
		assert.Check(t, strings.HasSuffix(asked, "Replace "+database+"? [y/N] "), "the command asks %q", asked)
		act(d.person, interrupt)
		code = apitest.Receive(t, d.code)
		left, err := filepath.Glob(filepath.Join(filepath.Dir(database), ".restore-*"))
		assert.Check(t, err == nil && len(left) == 0, "left behind: %v, error %v", left, err)
		return code, d.shown(t)
	}
	previous := func() int {
		all, err := filepath.Glob(database + ".before-restore-*")
		assert.NilError(t, err)
		return len(all)
	}
	for typed, shown := range map[string]string{"": "\r\n", "\x04": "\r\n", "n\n": "n\r\n"} { // an interrupt, the end of the input, and a no
		code, end := ask(func(person *os.File, interrupt func()) {
			s, err := sqlite.Open(t.Context(), database, sqlite.Options{LockTimeout: time.Millisecond})
			if !assert.Check(t, err != nil, "the database could be opened") {
				assert.Check(t, s.Close())
			}
			if fmt.Fprint(person, typed); typed == "" {
				interrupt()
			}
		})
		if code != cli.ExitFailure || previous() != 0 || !strings.HasPrefix(end, shown+"mailhostd: nothing was restored: ") {
			t.Errorf("%q: exit code %d, %d databases were replaced: %q", typed, code, previous(), end)
		}
	}
	waiting := make(chan error)
	code, end := ask(func(person *os.File, _ func()) {
		locked := descriptors(t, database)
		go func() {
			s, err := sqlite.Open(t.Context(), database, sqlite.Options{})
			if err == nil {
				err = errors.Join(s.Update(t.Context(), func(tx store.Tx) error { return tx.Create(&store.Account{ID: "waited"}) }), s.Close())
			}
			waiting <- err
		}()
		for descriptors(t, database) == locked {
			runtime.Gosched() // until it has the old file open
		}
		fmt.Fprintln(person, "y")
	})
	if code != cli.ExitOK || previous() != 1 || !strings.HasPrefix(end, "y\r\n"+database+" was restored.\r\n") {
		t.Errorf("after y: exit code %d, %d databases were replaced: %q", code, previous(), end)
	}
	if err := apitest.Receive(t, waiting); err != nil {
		t.Errorf("a server that started during the question: %v", err)
	}
	restored, err := sqlite.Open(t.Context(), database, sqlite.Options{})
	assert.NilError(t, err)
	defer restored.Close()
	err = restored.View(t.Context(), func(r store.Reader) error { _, err := r.Account("waited"); return err })
	assert.Check(t, err, "what that server wrote is lost")
}
