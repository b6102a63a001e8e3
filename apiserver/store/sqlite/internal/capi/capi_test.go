package capi

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"
)

// open opens a new file with a table of any values.
func open(t *testing.T) *Conn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Run(`CREATE TABLE t (id INTEGER PRIMARY KEY, v); -- a script
		CREATE INDEX v ON t (v) WHERE v <> ''; `); err != nil {
		t.Fatal(err)
	}
	return c
}

func prepare(t *testing.T, c *Conn, query string) *Stmt {
	t.Helper()
	s, err := c.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestValues checks that what is bound is read again, by one statement many times, with
// texts that need more memory than those before.
func TestValues(t *testing.T) {
	c := open(t)
	write, read := prepare(t, c, `INSERT INTO t (v) VALUES ($1), ($2)`), prepare(t, c, `SELECT v FROM t ORDER BY id`)
	number, text, yes, blob := int64(-1<<63), "text", true, []byte("blob")
	values := []any{
		nil, []byte(nil), 0, number, &number, yes, &yes, "", text, &text, "a\x00b", "Zoë", blob, &blob, []byte{},
		strings.Repeat("long ", 10_000), bytes.Repeat([]byte{0}, 300), "end",
	}
	for _, v := range values {
		if err := write.Bind([]any{v, "second"}); err != nil {
			t.Fatal(err)
		}
		if row, err := write.Step(); row || err != nil {
			t.Fatal(row, err)
		}
		if c.Changes() != 2 {
			t.Errorf("%d changes", c.Changes())
		}
		write.Reset()
	}
	defer read.Reset()
	for _, v := range values {
		want := ""
		switch p, err := parameterOf(v); {
		case err != nil:
			t.Fatal(err)
		default:
			want = fmt.Sprintf("%d %d %q %q", p.kind, p.number, p.text, p.blob)
		}
		for _, want := range []string{want, `3 0 "second" ""`} {
			row, err := read.Step()
			if !row || err != nil {
				t.Fatal(row, err)
			}
			p := parameter{kind: read.Type(0)}
			switch p.kind {
			case lib.SQLITE_INTEGER:
				p.number = read.Int64(0)
			case lib.SQLITE_TEXT:
				p.text = read.Text(0)
			case lib.SQLITE_BLOB:
				p.blob = read.Blob(0)
			}
			if got := fmt.Sprintf("%d %d %q %q", p.kind, p.number, p.text, p.blob); got != want {
				t.Errorf("%.80s was read as %.80s", want, got)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	c := open(t)
	s := prepare(t, c, `INSERT INTO t (id) VALUES ($1)`)
	for i, want := range []string{"", "UNIQUE constraint failed: t.id (1555)"} {
		if err := s.Bind([]any{1}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Step()
		s.Reset()
		if err != nil != (want != "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("run %d: %v, want %q", i, err, want)
		}
		if e, ok := errors.AsType[*Error](err); ok && e.Code != lib.SQLITE_CONSTRAINT_PRIMARYKEY {
			t.Errorf("run %d: code %d", i, e.Code)
		}
	}
	for _, args := range [][]any{nil, {1, 2}, {1.5}, {time.Now()}} {
		if err := s.Bind(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	if _, err := c.Prepare(`SELECT "x"`); err == nil {
		t.Error(`"x" is a text`)
	}
	if s, err := c.Prepare(`SELECT 1; SELECT 2`); s != nil || err != nil {
		t.Errorf("a script is prepared: %v, %v", s, err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing"), 0); err == nil {
		t.Error("a missing file was created")
	}
}

// TestPreparedOnce checks that no execution prepares a statement anew because its
// parameters might lead to another plan.
func TestPreparedOnce(t *testing.T) {
	c := open(t)
	s := prepare(t, c, `SELECT id FROM t WHERE v = $1 AND v LIKE $2 LIMIT $3 OFFSET $4`)
	for i := range 3 {
		if err := s.Bind([]any{"v", "v%", i, i}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(); err != nil {
			t.Fatal(err)
		}
		s.Reset()
	}
	if n := lib.Xsqlite3_stmt_status(c.tls, s.stmt, lib.SQLITE_STMTSTATUS_REPREPARE, 0); n > 0 {
		t.Errorf("prepared %d times more", n)
	}
}
