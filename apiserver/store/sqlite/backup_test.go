package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

func TestReadOnly(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	r := openStore(t, path, Options{ReadOnly: true})
	for _, name := range []string{"ada", "eve"} { // while another store writes
		_, err := create(t.Context(), s, name)
		assert.NilError(t, err)
	}
	got := addresses(t, r)
	assert.Check(t, len(got) == 2, "the read-only store has %q", got)
	assert.Check(t, is.ErrorIs(r.Update(t.Context(), func(store.Tx) error { return nil }), store.ErrReadOnly), "Update")
	assert.Check(t, errors.Join(r.Ping(t.Context()), r.Close()))
}

func readAll(t *testing.T, paths ...string) (all string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		all += string(data)
	}
	return all
}

// TestCheckPages checks that damage is found, and that a check that takes too long does not count
// as damage.
func TestCheckPages(t *testing.T) {
	path := newPath(t)
	s := openStore(t, path, Options{})
	storetest.FillRandomly(t, s, 1)
	assert.NilError(t, errors.Join(CheckPages(t.Context(), path), s.Close()))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CheckPages(ended, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	content := []byte(readAll(t, path))
	clear(content[len(content)/2:])
	assert.NilError(t, os.WriteFile(path, content, 0o600))
	to := newPath(t)
	for _, err := range []error{CheckPages(t.Context(), path), BackupFile(t.Context(), path, to)} {
		assert.Check(t, err != nil && strings.Contains(err.Error(), path+": it is damaged; restore a backup"), err)
	}
	_, err := os.Stat(to)
	assert.Check(t, errors.Is(err, fs.ErrNotExist), "the backup of a damaged file was left behind")
}

// TestBackup checks a copy of a store in use and of a file, which keeps the version of its
// schema, even one that this program does not support.
func TestBackup(t *testing.T) {
	path, to, newer := newPath(t), filepath.Join(t.TempDir(), "it's a copy.db"), newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	works(t, s, "ada")
	assert.NilError(t, s.View(t.Context(), func(store.Reader) error { return BackupFile(t.Context(), path, to) }))
	works(t, s, "eve")
	if info, err := os.Stat(to); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	assert.Check(t, is.ErrorIs(BackupFile(t.Context(), path, to), fs.ErrExist), "a second backup")
	restored := openStore(t, to, Options{})
	assert.Check(t, is.DeepEqual(addresses(t, restored), []string{"ada"}), "the backup")
	check(t, restored)
	assert.Check(t, is.ErrorIs(BackupFile(t.Context(), path, filepath.Join(t.TempDir(), "nowhere", "to")), fs.ErrNotExist), "into a missing directory")
	makeLater(t, newer)
	to = newPath(t)
	assert.NilError(t, BackupFile(t.Context(), newer, to))
	_, err := Open(t.Context(), to, Options{})
	assert.Check(t, errors.Is(err, store.ErrNewerSchema), "Open = %v, want ErrNewerSchema", err)
	openStore(t, to, later(laterMigration))
}

// uncopied lists the tables that Copy does not copy.
var uncopied = []string{"authorization_version", "mailhost_migrations", "server"}

// dump returns the rows of each table of a store as SQL literals.
func dump(t *testing.T, s *Store) map[string][]string {
	t.Helper()
	content := map[string][]string{}
	for _, table := range column(t, s, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		columns := column(t, s, `SELECT 'quote(' || name || ')' FROM pragma_table_info('`+table+`')`)
		content[table] = slices.Sorted(slices.Values(column(t, s, `SELECT `+strings.Join(columns, ` || ',' || `)+` FROM `+table)))
	}
	return content
}

// TestCopy checks that a copy to another engine and back contains the same rows in every table, and
// that the copies can be used.
func TestCopy(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) *sqlstore.Store{
		"SQLite": func(t *testing.T) *sqlstore.Store { return openStore(t, newPath(t), Options{}).Store },
		"PostgreSQL": func(t *testing.T) *sqlstore.Store {
			s := postgrestest.Open(t, postgres.Options{})
			t.Cleanup(func() {
				assert.Check(t, s.Close())
			})
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range 3 {
				source := openStore(t, newPath(t), Options{})
				storetest.FillRandomly(t, source, seed)
				want := dump(t, source)
				for table, rows := range want {
					assert.Check(t, len(rows) != 0, "%s is empty; let storetest.FillRandomly add to it", table)
				}
				between, target := open(t), openStore(t, newPath(t), Options{})
				copyStore(t, source.Store, between)
				copyStore(t, between, target.Store)
				got := dump(t, target)
				for _, table := range slices.Sorted(maps.Keys(want)) {
					if !slices.Contains(uncopied, table) && !slices.Equal(got[table], want[table]) {
						t.Errorf("%s has\n%s\nwant\n%s", table, strings.Join(got[table], "\n"), strings.Join(want[table], "\n"))
					}
				}
				// Ids that the database assigns continue.
				storetest.FillRandomly(t, between, seed+10)
				storetest.FillRandomly(t, target, seed+10)
			}
		})
	}
}

func copyStore(t *testing.T, from, to *sqlstore.Store) {
	t.Helper()
	last, all := int64(0), int64(0)
	copied, err := sqlstore.Copy(t.Context(), from, to, func(done, total int64) {
		assert.Check(t, done > last && done <= total, "progress from %d to %d of %d", last, done, total)
		last, all = done, total
	})
	assert.NilError(t, err)
	assert.Check(t, copied.Rows != 0 && last == all && all == 2*copied.Rows, "%d rows were copied; the progress is %d of %d", copied.Rows, last, all)
}

// TestCopyIsAtomic checks that a copy that fails leaves the target empty: it is cancelled after
// some rows, or the copy differs from the source.
func TestCopyIsAtomic(t *testing.T) {
	t.Parallel()
	source := openStore(t, newPath(t), Options{})
	storetest.FillRandomly(t, source, 1)
	rows := func(s *Store) (n int) {
		for table, rows := range dump(t, s) {
			if !slices.Contains(uncopied, table) {
				n += len(rows)
			}
		}
		return n
	}
	total := 2 * rows(source)
	for steps := 1; steps < total; steps += total / 7 {
		target := openStore(t, newPath(t), Options{})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := sqlstore.Copy(ctx, source.Store, target.Store, func(done, _ int64) {
			if done >= int64(steps) {
				cancel()
			}
		})
		if cancel(); !errors.Is(err, context.Canceled) || rows(target) > 0 {
			t.Errorf("cancelled after %d of %d steps: %v; the target has %d rows", steps, total, err, rows(target))
		}
	}
	target := openStore(t, newPath(t), Options{})
	execute(t, target, `CREATE TRIGGER other AFTER INSERT ON feedback BEGIN UPDATE feedback SET title = 'other'; END`)
	if _, err := sqlstore.Copy(t.Context(), source.Store, target.Store, func(int64, int64) {}); err == nil || !strings.Contains(err.Error(), "check the copy of feedback") || rows(target) > 0 {
		t.Errorf("a copy that differs: %v; the target has %d rows", err, rows(target))
	}
	_, err := sqlstore.Copy(t.Context(), target.Store, source.Store, func(int64, int64) {})
	assert.Check(t, err != nil && strings.Contains(err.Error(), "no data"), "copying an empty store: %v", err)
	newer := openStore(t, newPath(t), later(`ALTER TABLE feedback ADD COLUMN later TEXT`))
	_, err = sqlstore.Copy(t.Context(), source.Store, newer.Store, func(int64, int64) {})
	assert.Check(t, err != nil && strings.Contains(err.Error(), "copy feedback: the tables have different columns"), "copying to other columns: %v", err)
	used := openStore(t, newPath(t), Options{})
	storetest.FillRandomly(t, used, 2)
	before := rows(used)
	_, err = sqlstore.Copy(t.Context(), source.Store, used.Store, func(int64, int64) {})
	assert.Check(t, err != nil && strings.Contains(err.Error(), "has data already") && rows(used) == before, "copying to a store with data: %v; it has %d rows, and had %d", err, rows(used), before)
}
