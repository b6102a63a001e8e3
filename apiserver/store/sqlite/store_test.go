package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, newPath(t), Options{}) })
	})
	t.Run("file with many checkpoints", func(t *testing.T) {
		if testing.Short() {
			t.Skip("-short: as slow as the file, and seldom another result")
		}
		storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, newPath(t), Options{checkpointFrames: 10}) })
	})
	t.Run("memory", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, Memory, Options{}) })
	})
}

// TestOpenAgain checks that a store keeps what it has, at paths that a URI would
// read otherwise.
func TestOpenAgain(t *testing.T) {
	for _, name := range []string{"mailhost.db", "a b?c=d#e%41&f.db", "ü;'\".db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mustPopulate(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		s := openStore(t, path, Options{})
		if _, err := create(t.Context(), s, "ada"); err != nil {
			t.Error(err)
		}
		entries, err := filepath.Glob(filepath.Dir(path) + "/*.db")
		if err != nil || len(entries) != 1 || entries[0] != path {
			t.Errorf("files %q, error %v, want %q alone", entries, err, path)
		}
	}
}

func TestFilePermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	path := newPath(t)
	s := openStore(t, path, Options{})
	mustPopulate(t, s)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if info.Mode() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func TestMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	one, other := openStore(t, Memory, Options{}), openStore(t, Memory, Options{})
	mustPopulate(t, one)
	if err := other.View(t.Context(), func(r store.Reader) error {
		accounts, err := r.Accounts()
		if len(accounts) > 0 {
			t.Error("a store in memory sees another's account")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(one.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v behind, error %v", left, err)
	}
}

// TestOpenErrors checks that an error names the path and says what is wrong.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign")
	alter(t, foreign, `CREATE TABLE songs (title TEXT)`)
	versioned := filepath.Join(dir, "versioned")
	alter(t, versioned, `PRAGMA user_version = 1`)

	for path, want := range map[string]string{
		"":                                  "is empty",
		dir:                                 "is a directory",
		filepath.Join(dir, "nowhere", "db"): "directory does not exist",
		filepath.Join(text, "db"):           "directory does not exist",
		text:                                "not an SQLite database",
		foreign:                             "another program",
		versioned:                           "another program",
	} {
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			t.Errorf("Open(%q) succeeded", path)
			_ = s.Close()
		} else if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%q) = %v, want %q", path, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("Open made a directory")
	}
}

// alter runs a statement on a file.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	if _, err := prepareFile(path); err != nil {
		t.Fatal(err)
	}
	s, err := connect(t.Context(), path, file{path: path}.writable())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.exec(statement), s.close()); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchema(t *testing.T) {
	path := newPath(t)
	if err := openStore(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, path, `PRAGMA user_version = 211`)
	_, err := Open(t.Context(), path, Options{})
	if !errors.Is(err, store.ErrNewerSchema) {
		t.Fatalf("Open = %v, want ErrNewerSchema", err)
	}
	for _, want := range []string{path, "version 211", "knows up to", "run the newer version"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// TestUpgrade opens a store that the first version has written: all that came
// later is migrated, so that a new migration changes nothing here.
func TestUpgrade(t *testing.T) {
	first, err := fs.Glob(dialect{}.Migrations(), "0001_*.sql")
	if err != nil || len(first) != 1 {
		t.Fatalf("the first migrations are %q, %v", first, err)
	}
	schema, err := fs.ReadFile(dialect{}.Migrations(), first[0])
	if err != nil {
		t.Fatal(err)
	}
	path := newPath(t)
	alter(t, path, string(schema))
	alter(t, path, `PRAGMA user_version = 1`)
	alter(t, path, `
		INSERT INTO accounts VALUES ('account', 'active', 'p', 0, '', 0, 1, 1);
		INSERT INTO workspaces VALUES ('workspace', 'account', 'Default', 1, 1);
		INSERT INTO domains VALUES ('domain', 'account', 'workspace', 'a.example', 'active', '', 0, 1, 0, NULL, '', '', '{}', '[]', '{}', '', 1, 1);
		INSERT INTO mailboxes VALUES ('mailbox', 'account', 'domain', 'ada', 'Ada', 'Lovelace', 'active', '', 0, 1, 0, '[]', 'ada', 1, 1);
		INSERT INTO dns_records VALUES (7, 'account', 'domain', '@', 'TXT', 'x', 60, NULL, 0, 1, 1),
			(8, 'account', 'domain', '@', 'TXT', 'v=spf1 -all', 60, NULL, 1, 2, 2), (9, 'account', 'domain', '@', 'MX', 'mx.example', 60, 10, 1, 3, 3),
			(10, 'account', 'domain', '@', 'TXT', 'V=SPF1 mx -all', 60, NULL, 0, 4, 4);
		INSERT INTO master_passwords VALUES ('p1', 'account', 'ΟΔΟΣ', 'account', 'account', '', 'οδοσ', 1, 1), ('p2', 'account', 'Οδος', 'account', 'account', '', 'οδος', 2, 2);
		INSERT INTO workspaces VALUES ('w2', 'account', 'Große', 2, 2);
		INSERT INTO mailboxes VALUES ('m2', 'account', 'domain', 'bob', 'STRAßE', 'ΟΔΟΣ', 'active', '', 0, 1, 0, '[]', 'bob@a.example' || char(10) || 'straße οδος', 2, 2);
		INSERT INTO dedicated_ip_options VALUES ('option', 'account', 'EU', 'dedicated', 'DE', 0, '["192.0.2.1","192.0.2.2"]', 1, 1),
			('option2', 'account', 'EU2', 'dedicated', 'DE', 0, '["192.0.2.1","192.0.2.2"]', 2, 2);
		INSERT INTO dedicated_ips VALUES ('ip2', 'account', 'option2', 'second', 'dedicated', 'active', '', 0, 0, 'DE', '[{"ip":"192.0.2.1"}]', 2, 2),
			('ip1', 'account', 'option', 'first', 'dedicated', 'active', '', 0, 0, 'DE', '[{"ip":"192.0.2.1"}]', 1, 1);
		INSERT INTO dedicated_ip_claims VALUES ('option2', '192.0.2.1', 'ip2'), ('option', '192.0.2.1', 'ip1');
		INSERT INTO idempotent_answers VALUES (x'01', x'02', x'03', 4102444800000000);`)

	s := openStore(t, path, Options{})
	if err := s.View(t.Context(), func(r store.Reader) error {
		_, total, err := r.Domains(accountID, store.DomainFilter{Search: "A.Ex"}, store.Slice{Limit: 1})
		if total != 1 {
			t.Errorf("a search finds %d domains", total)
		}
		record, notRead := r.DNSRecord(accountID, 7)
		if _, err := r.IdempotencyRecord([]byte{1}, time.UnixMicro(1)); record.Value != "x" || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the record is %+v; a replayed response of the old format: %v", record, err)
		}
		return errors.Join(err, notRead)
	}); err != nil {
		t.Error(err)
	}
	if got := addresses(t, s); !slices.Equal(got, []string{"ada", "bob"}) {
		t.Errorf("the mailboxes are %q", got)
	}
	// Names that differ in case only are found, and taken.
	if err := s.View(t.Context(), func(r store.Reader) error {
		_, passwords, err := r.MasterPasswords(accountID, store.ScopedFilter{Search: "οδος"}, store.Slice{Limit: 10})
		_, mailboxes, err2 := r.Mailboxes(accountID, store.MailboxFilter{Search: "STRASSE Οδ"}, store.Slice{Limit: 10})
		if passwords != 2 || mailboxes != 1 {
			t.Errorf("a search finds %d passwords and %d mailboxes", passwords, mailboxes)
		}
		return errors.Join(err, err2)
	}); err != nil {
		t.Error(err)
	}
	err = s.Update(t.Context(), func(tx store.Tx) error {
		return tx.CreateWorkspace(&store.Workspace{ID: "w3", AccountID: accountID, Name: "GROSSE"})
	})
	if exists, ok := errors.AsType[*store.ExistsError](err); !ok || exists.ID != "w2" {
		t.Errorf("a workspace of the same name: %v", err)
	}
	// The customer's SPF record replaces the system-managed one.
	var shown []int64
	if err := s.View(t.Context(), func(r store.Reader) error {
		records, _, err := r.DNSRecords(accountID, store.DNSRecordFilter{}, store.Slice{Limit: 10})
		for _, record := range records {
			shown = append(shown, record.ID)
		}
		return err
	}); err != nil || !slices.Equal(shown, []int64{7, 9, 10}) {
		t.Errorf("the records %v are shown: %v", shown, err)
	}
	// An address that was claimed twice is not free before both have let it go.
	claim := store.DedicatedIP{ID: "ip3", AccountID: accountID, OptionID: "option", Addresses: []store.IPAddress{{IP: "192.0.2.1"}}}
	for _, holder := range []string{"ip1", "ip2"} {
		err := s.Update(t.Context(), func(tx store.Tx) error { return tx.CreateDedicatedIP(&claim) })
		if exists, ok := errors.AsType[*store.ExistsError](err); !ok || exists.ID != holder {
			t.Errorf("claiming an address that %s has: %v", holder, err)
		}
		if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.DeleteDedicatedIP(accountID, holder) }); err != nil {
			t.Error(err)
		}
	}
	if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.CreateDedicatedIP(&claim) }); err != nil {
		t.Error(err)
	}
	if err := s.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.MarkInterrupted([]byte{1}, []byte{2}, "id"), tx.Clear())
	}); err != nil {
		t.Errorf("the upgraded store: %v", err)
	}
	storetest.Fill(t, s)
	check(t, s)
}

// TestPragmas checks what durability and isolation rest on.
func TestPragmas(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	mustPopulate(t, s)
	pragma := func(s *session, name string) string {
		var value string
		if err := s.conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&value); err != nil {
			t.Error(err)
		}
		return value
	}
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
		if got := pragma(s.engine.writer.session, name); got != want {
			t.Errorf("%s of the writer = %s, want %s", name, got, want)
		}
	}
	reader, err := s.engine.readers.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.engine.readers.release(reader)
	if got := pragma(reader, "query_only"); got != "1" {
		t.Errorf("query_only of a reader = %s, want 1", got)
	}
	if err := reader.exec(`DELETE FROM accounts`); err == nil {
		t.Error("a reader can write")
	}
}

// TestConcurrentFirstOpen opens a file that does not exist in many places at
// once.
func TestConcurrentFirstOpen(t *testing.T) {
	path := newPath(t)
	stores := make([]*Store, 8)
	var wg sync.WaitGroup
	for i := range stores {
		wg.Go(func() {
			var err error
			if stores[i], err = Open(t.Context(), path, Options{}); err != nil {
				t.Error(err)
			} else if err := populate(t.Context(), stores[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range stores {
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("Close = %v", err)
	}
	for _, err := range []error{
		s.Update(t.Context(), func(store.Tx) error { return nil }),
		s.View(t.Context(), func(store.Reader) error { return nil }),
		s.Ping(t.Context()),
	} {
		if err != ErrClosed {
			t.Errorf("error = %v, want ErrClosed", err)
		}
	}
}

func TestBackup(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	mustPopulate(t, s)
	if _, err := create(t.Context(), s, "ada"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "it's a copy.db")
	if err := s.View(t.Context(), func(store.Reader) error { return s.Backup(t.Context(), path) }); err != nil {
		t.Fatal(err)
	}
	if _, err := create(t.Context(), s, "eve"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("second backup = %v, want os.ErrExist", err)
	}
	restored := openStore(t, path, Options{})
	if got := addresses(t, restored); len(got) != 1 || got[0] != "ada" {
		t.Errorf("the backup has %q", got)
	}
	check(t, restored)
}

// migrated makes a database of the schema before a migration, whose file name
// holds the word.
func migrated(t *testing.T, path, before string) {
	t.Helper()
	names, err := fs.Glob(dialect{}.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if strings.Contains(name, before) {
			alter(t, path, fmt.Sprintf(`PRAGMA user_version = %d`, i))
			return
		}
		text, err := fs.ReadFile(dialect{}.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		alter(t, path, string(text))
	}
	t.Fatalf("no migration %q in %q", before, names)
}

// TestUpgradeAliases moves the aliases of old mailboxes into the table where they
// are unique. A primary address wins over an alias, and an older mailbox's alias
// over a newer one's.
func TestUpgradeAliases(t *testing.T) {
	path := newPath(t)
	migrated(t, path, "addresses")
	alter(t, path, `
		INSERT INTO accounts VALUES ('account', 'active', 'p', 0, '', 0, 1, 1);
		INSERT INTO workspaces VALUES ('workspace', 'account', 'Default', 1, 1);
		INSERT INTO domains VALUES ('domain', 'account', 'workspace', 'a.example', 'active', '', 0, 1, 0, NULL, '', '', '{}', '[]', '{}', '', 1, 1, '');
		INSERT INTO domains VALUES ('other', 'account', 'workspace', 'b.example', 'active', '', 0, 1, 0, NULL, '', '', '{}', '[]', '{}', '', 2, 2, '');
		INSERT INTO mailboxes VALUES ('new', 'account', 'domain', 'new', 'A', 'B', 'active', '', 0, 1, 0,
			'[{"alias":"info@a.example","is_catch_all":false},{"alias":"new@b.example","is_catch_all":true}]', 'new', 2, 2);
		INSERT INTO mailboxes VALUES ('ada', 'account', 'domain', 'ada', 'A', 'B', 'active', '', 0, 1, 0,
			'[{"alias":"new@a.example","is_catch_all":false},{"alias":"info@a.example","is_catch_all":true},{"alias":"ada@nowhere.example","is_catch_all":false}]', 'ada', 1, 1);
		INSERT INTO mailboxes VALUES ('bob', 'account', 'other', 'ada', 'A', 'B', 'active', '', 0, 1, 0, '', 'bob', 3, 3);
		INSERT INTO mailboxes VALUES ('eve', 'account', 'other', 'eve', 'A', 'B', 'active', '', 0, 1, 0,
			'[{"alias":"eve@b.example","is_catch_all":false}]', 'eve', 4, 4);`)

	s := openStore(t, path, Options{})
	want := map[string][]store.MailboxAlias{
		"ada": {{Alias: "info@a.example", IsCatchAll: true}},
		"new": {{Alias: "new@b.example", IsCatchAll: true}},
		"bob": nil, "eve": nil,
	}
	owners := map[string]string{
		"ada@a.example": "ada", "info@a.example": "ada", "new@a.example": "new", "new@b.example": "new", "ada@b.example": "bob", "eve@b.example": "eve",
	}
	if err := s.View(t.Context(), func(r store.Reader) error {
		for id, aliases := range want {
			if m, err := r.Mailbox("account", id); err != nil || !reflect.DeepEqual(m.Aliases, aliases) {
				t.Errorf("mailbox %s: %+v, %v; want the aliases %v", id, m, err, aliases)
			}
		}
		for address, id := range owners {
			local, domain, _ := strings.Cut(address, "@")
			if m, err := r.MailboxByAddress("account", local, domain); err != nil || m.ID != id {
				t.Errorf("%s: %+v, %v; want %s", address, m, err, id)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
