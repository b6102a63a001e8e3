package sqlstore

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// recorder is an Engine and a Querier without a database. A query returns one row of zero values,
// unless it looks for another object with the same unique values.
type recorder struct {
	Engine
	text *strings.Builder
	// versions counts the reads of the AuthorizationVersion, which each statement changes.
	versions *int64
	// known lists the beginnings of SELECTs that were written before.
	known map[string]bool
}

func (r recorder) Update(ctx context.Context, fn func(context.Context, Querier) error) error {
	return fn(ctx, r)
}

func (r recorder) ExecContext(_ context.Context, statement string, _ ...any) (int64, error) {
	if columns, from, _ := strings.Cut(statement, " FROM "); r.known[columns] {
		statement = "SELECT … FROM " + from
	} else if strings.HasPrefix(columns, "SELECT t.id, ") {
		r.known[columns] = true
	}
	_, _ = fmt.Fprintln(r.text, onLines(statement)+";")
	return 1, nil
}

// clause matches the words that begin a line outside brackets.
var clause = regexp.MustCompile(`^(?:FROM|(?:CROSS )?JOIN|WHERE|SET|VALUES|ON CONFLICT|ORDER) `)

// onLines returns a statement with a line for each clause.
func onLines(statement string) string {
	words := strings.Fields(statement)
	text, depth := words[0], 0
	for i, word := range words[1:] {
		depth += strings.Count(words[i], "(") - strings.Count(words[i], ")")
		if depth == 0 && words[i] != "DELETE" && words[i] != "CROSS" && clause.MatchString(strings.Join(words[i+1:], " ")) {
			text += "\n "
		}
		text += " " + word
	}
	return text
}

func (r recorder) QueryContext(ctx context.Context, query string, args ...any) (Rows, error) {
	_, _ = r.ExecContext(ctx, query, args...)
	if strings.Contains(query, "authorization_version") {
		*r.versions++
		return &oneRow{version: *r.versions}, nil
	}
	return &oneRow{read: strings.Contains(query, "t.id <> ")}, nil
}

type oneRow struct {
	Rows
	read    bool
	version int64
}

func (r *oneRow) Next() bool { unread := !r.read; r.read = true; return unread }
func (r *oneRow) Scan(dest ...any) error {
	if r.version != 0 {
		*dest[0].(*int64) = r.version
	}
	return nil
}
func (r *oneRow) Err() error   { return nil }
func (r *oneRow) Close() error { return nil }

// TestStatements compares the statements of each kind with testdata/statements.sql, a file for readers.
// The statements are the same on both engines, apart from the SQL of Dialect.
func TestStatements(t *testing.T) {
	text := &strings.Builder{}
	fmt.Fprintln(text, `-- The statements of Get, Create, Update and Delete of each kind, when each query returns a row.
-- … stands for the columns of Get. Written by go test ./apiserver/store/sqlstore -update`)
	s := New(recorder{text: text, versions: new(int64), known: map[string]bool{}}, &Dialect{Elements: "elements of %s"})
	update := func(title string, fn func(tx store.Tx) error) {
		t.Helper()
		fmt.Fprintf(text, "\n-- %s\n", title)
		assert.Check(t, s.Update(t.Context(), fn), title)
	}
	objects := map[string]store.Object{}
	for _, k := range kinds {
		o := reflect.New(k.object.Elem()).Interface().(store.Object)
		objects[k.name] = o
		update("Get "+k.object.Elem().Name(), func(tx store.Tx) error { return tx.Get(o, "account", "id") })
	}
	for _, k := range kinds {
		o, name := objects[k.name], k.object.Elem().Name()
		update("Create "+name, func(tx store.Tx) error { return tx.Create(o) })
		update("Update "+name, func(tx store.Tx) error {
			return tx.Update(o, "account", "id", func() error {
				reflect.ValueOf(o).Elem().FieldByName("CreatedAt").Set(reflect.ValueOf(time.Unix(1, 0)))
				return nil
			})
		})
		remove := func(tx store.Tx) error { return tx.Delete(o, "account", "id", time.Time{}) }
		if k.name == accounts.name {
			remove = func(tx store.Tx) error { return tx.DeleteAccount("id") }
		}
		update("Delete "+name, remove)
	}
	golden.Assert(t, text.String(), "statements.sql")
}
