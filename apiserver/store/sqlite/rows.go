package sqlite

import (
	"fmt"

	lib "modernc.org/sqlite/lib"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite/internal/capi"
)

// rows are the sqlstore.Rows of a query. They are valid until the session's next query.
type rows struct {
	stmt *capi.Stmt // nil when they are closed
	// ahead means that the statement is at a row that Next has not returned yet.
	ahead  bool
	failed error
}

// Next implements sqlstore.Rows.
func (r *rows) Next() bool {
	if r.ahead {
		r.ahead = false
		return true
	}
	return r.stmt != nil && r.step()
}

// step reports whether there is another row. At the end it closes the rows, so that they
// hold no snapshot.
func (r *rows) step() (row bool) {
	if row, r.failed = r.stmt.Step(); !row {
		_ = r.Close() // returns nil
	}
	return row
}

// Err implements sqlstore.Rows.
func (r *rows) Err() error { return r.failed }

// Close implements sqlstore.Rows.
func (r *rows) Close() error {
	if r.stmt != nil {
		r.stmt.Reset()
		r.stmt, r.ahead = nil, false
	}
	return nil
}

// Scan implements sqlstore.Rows.
func (r *rows) Scan(dest ...any) error {
	if n := r.stmt.Columns(); n != len(dest) {
		return fmt.Errorf("a row has %d columns, not %d", n, len(dest))
	}
	for i, d := range dest {
		if err := r.scan(i, d); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *rows) scan(i int, dest any) error {
	kind := r.stmt.Type(i)
	want := int32(lib.SQLITE_INTEGER)
	switch d := dest.(type) {
	case interface{ Scan(src any) error }: // sql.Scanner
		return d.Scan(r.value(i, kind))
	case *any:
		*d, want = r.value(i, kind), kind
	case *string:
		if want = lib.SQLITE_TEXT; kind != lib.SQLITE_NULL {
			r.stmt.SetText(d, i)
			want = kind
		}
	case *[]byte:
		if want = lib.SQLITE_BLOB; kind == want || kind == lib.SQLITE_NULL {
			*d, want = r.stmt.Blob(i), kind
		}
	case *int64:
		*d = r.stmt.Int64(i)
	case *int:
		*d = int(r.stmt.Int64(i))
	case *uint32:
		*d = uint32(r.stmt.Int64(i))
	case *bool:
		*d = r.stmt.Int64(i) != 0
	case **int64:
		if *d = nil; kind == lib.SQLITE_NULL {
			return nil
		}
		*d = new(r.stmt.Int64(i))
	default:
		return fmt.Errorf("can't be scanned into a %T", dest)
	}
	if kind != want {
		return fmt.Errorf("its type is not that of a %T", dest)
	}
	return nil
}

// value returns a column as database/sql does.
func (r *rows) value(i int, kind int32) any {
	switch kind {
	case lib.SQLITE_INTEGER:
		return r.stmt.Int64(i)
	case lib.SQLITE_TEXT:
		return r.stmt.Text(i)
	case lib.SQLITE_BLOB:
		return r.stmt.Blob(i)
	}
	return nil
}
