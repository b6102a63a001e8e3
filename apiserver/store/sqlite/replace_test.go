package sqlite

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// overwrite copies a file into an existing file without replacing it, as cp does.
func overwrite(t testing.TB, path, with string) {
	t.Helper()
	data, err := os.ReadFile(with)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// replacements overwrite an open file. The file had the mailbox "old" when backup was
// created, and later also "late". want lists the mailboxes in the file afterwards; nil if
// it can't be opened.
var replacements = []struct {
	name    string
	replace func(t *testing.T, path, backup string)
	want    []string
}{
	{"a backup", func(t *testing.T, path, backup string) { overwrite(t, path, backup) }, []string{"old"}},
	{"the same backup later on", func(t *testing.T, path, backup string) {
		s := openStore(t, backup, Options{})
		works(t, s, "more")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		overwrite(t, path, backup)
	}, []string{"old", "more"}},
	{"another database", func(t *testing.T, path, _ string) {
		other := newPath(t)
		s := openStore(t, other, Options{})
		mustPopulate(t, s)
		works(t, s, "other")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		overwrite(t, path, other)
	}, []string{"other"}},
	{"nothing", func(t *testing.T, path, _ string) {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}, nil},
	{"half of it", func(t *testing.T, path, _ string) {
		info, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, info.Size()/2)
		}
		if err != nil {
			t.Fatal(err)
		}
	}, nil},
	{"a text", func(t *testing.T, path, _ string) {
		if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100_000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}, nil},
}

// withBackup returns the path of a store that was closed with the mailbox "old", and two
// backups: one by Backup, and a copy of the closed file.
func withBackup(t *testing.T) (path string, backups map[string]string) {
	t.Helper()
	path = newPath(t)
	backups = map[string]string{"backup": filepath.Join(t.TempDir(), "backup.db"), "copy": filepath.Join(t.TempDir(), "copy.db")}
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	works(t, s, "old")
	if err := errors.Join(s.Backup(t.Context(), backups["backup"]), s.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(backups["copy"], data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, backups
}

// prepare writes to an open store, so that its changes are in the log, the file, or both.
var prepare = map[string]func(t *testing.T, s *Store){
	"in the log": func(t *testing.T, s *Store) { works(t, s, "late") },
	"in the file": func(t *testing.T, s *Store) {
		works(t, s, "late")
		checkpoint(t, s)
	},
	"in both": func(t *testing.T, s *Store) {
		works(t, s, "late")
		checkpoint(t, s)
		works(t, s, "later")
	},
}

func checkpoint(t *testing.T, s *Store) {
	t.Helper()
	idle(t, s)
	s.engine.health.checkpoint(func() bool {
		frames, moved, err := s.engine.writer.session.checkpoint("PASSIVE")
		if err != nil || frames != moved {
			t.Error(frames, moved, err)
		}
		return true
	})
}

// TestReplacedContent checks that a store whose open file is overwritten accepts no more
// writes, and that the new content survives the store's Close or the end of its process.
func TestReplacedContent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be overwritten on Windows")
	}
	for _, r := range replacements {
		for state, prepare := range prepare {
			for _, kind := range []string{"backup", "copy"} {
				if kind == "copy" && r.name == "the same backup later on" {
					continue // two later states of the same file can't be distinguished
				}
				for _, killed := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%s/killed %t", r.name, state, kind, killed), func(t *testing.T) {
						t.Parallel()
						path, backups := withBackup(t)
						opts := Options{unsynced: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
						s, err := Open(t.Context(), path, opts)
						if err != nil {
							t.Fatal(err)
						}
						prepare(t, s)
						// All changes since the copy are in the log, which matches the
						// copy.
						fits := r.name == "a backup" && kind == "copy" && state != "in both"
						r.replace(t, path, backups[kind])
						fails(t, s, path)
						if err := s.View(t.Context(), func(store.Reader) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
							t.Errorf("View = %v", err)
						}
						if killed {
							path = killedAt(t, path)
						}
						if err := s.Close(); !errors.Is(err, store.ErrUnavailable) {
							t.Errorf("Close = %v", err)
						}
						again, err := Open(t.Context(), path, opts)
						if r.want == nil {
							if err == nil {
								t.Errorf("the replaced file can be opened and has %q", addresses(t, again))
								_ = again.Close()
							}
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						defer again.Close()
						if fits && killed {
							return
						}
						if got := addresses(t, again); !slices.Equal(got, r.want) {
							t.Errorf("mailboxes %q, want %q", got, r.want)
						}
						works(t, again, "new")
						check(t, again)
						if logs, err := filepath.Glob(path + "-wal.replaced-*"); err != nil || len(logs) != 1 {
							t.Errorf("the logs that were moved away are %q, %v", logs, err)
						}
					})
				}
			}
		}
	}
}

// killedAt returns a copy of the files as they would be if the process were killed now.
// The shared-memory index ends with its last process.
func killedAt(t *testing.T, path string) string {
	t.Helper()
	to := newPath(t)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestTruncatedLog checks that a truncated or overwritten log is not written into the
// file.
func TestTruncatedLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be truncated on Windows")
	}
	for name, spoil := range map[string]func(path string) error{
		"to nothing": func(path string) error { return os.Truncate(path, 0) },
		"by a page":  func(path string) error { return os.Truncate(path, walHeaderSize+walFrameSize) },
		"overwritten": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("no log ", 100_000)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := withBackup(t)
			s, err := Open(t.Context(), path, Options{unsynced: true})
			if err != nil {
				t.Fatal(err)
			}
			works(t, s, "late")
			if err := spoil(path + "-wal"); err != nil {
				t.Fatal(err)
			}
			fails(t, s, "-wal file")
			if err := s.Close(); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("Close = %v", err)
			}
			if name == "overwritten" { // a log that was truncated looks like one after a crash
				if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "the latest changes, is damaged, truncated or missing") {
					t.Errorf("Open = %v", err)
				}
				if err := os.Remove(path + "-wal"); err != nil {
					t.Fatal(err)
				}
			}
			again := openStore(t, path, Options{})
			if got := addresses(t, again); !slices.Equal(got, []string{"old"}) {
				t.Errorf("mailboxes %q", got)
			}
			check(t, again)
		})
	}
}

// TestCheckpointsOfOthers checks that two stores that write in turn, with checkpoints and
// new logs between, accept each other's content.
func TestCheckpointsOfOthers(t *testing.T) {
	path := newPath(t)
	one, two := openStore(t, path, Options{}), openStore(t, path, Options{})
	mustPopulate(t, one)
	for n := range 40 {
		for i, s := range []*Store{one, two} {
			works(t, s, fmt.Sprint(n, "-", i))
			if n%3 == i {
				idle(t, s)
				if _, _, err := s.engine.writer.session.checkpoint([]string{"PASSIVE", "RESTART", "TRUNCATE"}[n/3%3]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n%10 == 9 { // open and close a third store
			works(t, openStore(t, path, Options{}), fmt.Sprint(n, "-3"))
		}
	}
	check(t, one)
}

// TestLongLog checks that the log is checkpointed into the file while the store is open.
func TestLongLog(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	for n := range 300 {
		m := newMailbox(fmt.Sprint(n))
		m.FirstName = strings.Repeat("x", 20_000)
		if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.CreateMailbox(&m) }); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil || info.Size() > 2*checkpointFrames*walFrameSize {
		t.Errorf("the log is %v, %v", info, err)
	}
	works(t, s, "last")
}

// TestPartialCheckpoints checks partial checkpoints, which move pages into the file
// without a new header because a reader keeps them from completing. No store mistakes
// them for foreign content, and a copy over the file is still detected.
func TestPartialCheckpoints(t *testing.T) {
	path, backups := withBackup(t)
	one, err := Open(t.Context(), path, Options{unsynced: true})
	two, errTwo := Open(t.Context(), path, Options{unsynced: true})
	if err := errors.Join(err, errTwo); err != nil {
		t.Fatal(err)
	}
	seen := func() fileState {
		now, err := readState(one.engine.health.file.File)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	fill := func(name string, pages int) {
		m := newMailbox(name)
		m.FirstName = strings.Repeat("x", pages*pageSize)
		if err := one.Update(t.Context(), func(tx store.Tx) error { return tx.CreateMailbox(&m) }); err != nil {
			t.Fatal(err)
		}
		idle(t, one)
	}
	before := seen()
	for n := range 3 {
		fill(fmt.Sprint("short", n), 20) // later updates don't change it
		if err := two.View(t.Context(), func(r store.Reader) error {
			_, err := r.Accounts()
			fill(fmt.Sprint("long", n), 2*checkpointFrames)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if now := seen(); n == 0 && (now == before || now.header != before.header) {
			t.Fatalf("no partial checkpoint: %v, before %v", now, before)
		}
		works(t, two, fmt.Sprint("two", n))
		works(t, one, fmt.Sprint("one", n))
	}
	check(t, one)
	overwrite(t, path, backups["copy"])
	for _, s := range []*Store{one, two} {
		fails(t, s, "was overwritten")
		if err := s.Close(); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Close = %v", err)
		}
	}
}

// replaceFile puts a file in the place of another one, whose log is empty.
func replaceFile(t *testing.T, path, with string) {
	t.Helper()
	if err := errors.Join(os.Remove(path+"-wal"), os.Rename(with, path)); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedUnderLock checks that whoever waits for a locked file uses the one that has
// taken its place when the lock ends: what it wrote to the old one would be lost, and the
// log at the path belongs to the new one.
func TestReplacedUnderLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be replaced on Windows")
	}
	type opened struct {
		store *Store
		err   error
	}
	for _, tt := range []struct {
		opts Options
		refs int // to the file while the store waits, and the lock's
	}{{Options{unsynced: true}, 2}, {Options{ReadOnly: true}, 3}} {
		for range 5 { // the lock may end between two attempts to open the file
			path, backups := withBackup(t)
			s := openStore(t, path, Options{})
			works(t, s, "late")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			lock, err := LockFile(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			waiting := make(chan opened)
			go func() {
				s, err := Open(t.Context(), path, tt.opts)
				waiting <- opened{s, err}
			}()
			for file, inUse := lock.session.file, false; !inUse; runtime.Gosched() {
				sharedFiles.mu.Lock()
				inUse = file.refs == tt.refs
				sharedFiles.mu.Unlock()
			}
			replaceFile(t, path, backups["backup"])
			if err := lock.Unlock(); err != nil {
				t.Fatal(err)
			}
			o := <-waiting
			if o.err != nil {
				t.Fatal(o.err)
			}
			if got := addresses(t, o.store); !slices.Equal(got, []string{"old"}) {
				t.Errorf("mailboxes %q", got)
			}
			want := []string{"old"}
			if !tt.opts.ReadOnly {
				works(t, o.store, "new")
				want = append(want, "new")
			}
			if err := o.store.Close(); err != nil {
				t.Error(err)
			}
			again := openStore(t, path, Options{})
			if got := addresses(t, again); !slices.Equal(got, want) {
				t.Errorf("mailboxes %q, want %q", got, want)
			}
			check(t, again)
		}
	}
}

// TestCloseLeavesLogOfOther checks that a store whose file was replaced, and which has no
// changes in the log, leaves the log to the process that uses it with the other file.
func TestCloseLeavesLogOfOther(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be replaced on Windows")
	}
	path, backups := withBackup(t)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backups["backup"], path); err != nil {
		t.Fatal(err)
	}
	p := start(t, "cancel", path)
	change := func() {
		if _, err := fmt.Fprintln(p.in); err != nil || !p.out.Scan() {
			t.Fatal(err, p.out.Err())
		}
	}
	change()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	change()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // killed
	again := openStore(t, path, Options{})
	if err := again.View(t.Context(), func(r store.Reader) error {
		a, err := r.Account(accountID)
		if a.Status != "xx" {
			t.Errorf("status %q after two changes", a.Status)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	check(t, again)
}
