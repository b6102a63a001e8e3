package sqlite

import (
	"database/sql/driver"
	"fmt"

	zombiezen "zombiezen.com/go/sqlite"
)

// rows are the sqlstore.Rows of a query. They are valid until the session's next query.
type rows struct {
	stmt *zombiezen.Stmt // nil when they are closed
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

// step reports whether there is another row. At the end it closes the rows and their snapshot.
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
		reset(r.stmt)
		r.stmt, r.ahead = nil, false
	}
	return nil
}

// Scan implements sqlstore.Rows.
func (r *rows) Scan(dest ...any) error {
	if n := r.stmt.ColumnCount(); n != len(dest) {
		return fmt.Errorf("a row has %d columns, not %d", n, len(dest))
	}
	for i, d := range dest {
		if err := r.scan(i, d); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// scan reads a column, whose type the schema enforces.
func (r *rows) scan(i int, dest any) error {
	switch d := dest.(type) {
	case interface{ Scan(src any) error }: // sql.Scanner
		return d.Scan(r.value(i))
	case *any:
		*d = r.value(i)
	case *string:
		*d = r.stmt.ColumnText(i)
	case *[]byte:
		*d = r.blob(i)
	case *int64:
		*d = r.stmt.ColumnInt64(i)
	case *int:
		*d = int(r.stmt.ColumnInt64(i))
	case *bool:
		*d = r.stmt.ColumnInt64(i) != 0
	case **int64:
		if *d = nil; r.stmt.ColumnType(i) != zombiezen.TypeNull {
			*d = new(r.stmt.ColumnInt64(i))
		}
	default:
		return fmt.Errorf("can't be scanned into a %T", dest)
	}
	return nil
}

// blob returns nil for an empty one.
func (r *rows) blob(i int) []byte {
	n := r.stmt.ColumnLen(i)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	r.stmt.ColumnBytes(i, b)
	return b
}

// value returns a column as database/sql does.
func (r *rows) value(i int) any {
	switch r.stmt.ColumnType(i) {
	case zombiezen.TypeInteger:
		return r.stmt.ColumnInt64(i)
	case zombiezen.TypeText:
		return r.stmt.ColumnText(i)
	case zombiezen.TypeBlob:
		return r.blob(i)
	}
	return nil
}

// bind sets all parameters of a statement to what sqlstore.Querier allows as arguments.
func bind(stmt *zombiezen.Stmt, args []any) error {
	if n := stmt.BindParamCount(); n != len(args) {
		return fmt.Errorf("%d arguments for %d parameters", len(args), n)
	}
	for i, arg := range args {
		plain, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return err
		}
		switch v := plain.(type) {
		case int64:
			stmt.BindInt64(i+1, v)
		case bool:
			stmt.BindBool(i+1, v)
		case string:
			stmt.BindText(i+1, v)
		case []byte:
			if v != nil {
				stmt.BindBytes(i+1, v)
			}
		case nil: // a parameter that is not bound is NULL
		default:
			return fmt.Errorf("no parameter can be a %T", v)
		}
	}
	return nil
}

// reset ends a run of a statement and frees its arguments. Its errors repeat that of the run.
func reset(stmt *zombiezen.Stmt) {
	_ = stmt.Reset()
	_ = stmt.ClearBindings()
}
