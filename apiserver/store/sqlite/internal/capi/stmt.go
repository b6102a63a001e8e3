package capi

import (
	"database/sql/driver"
	"fmt"

	lib "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement. Bind, Step until it returns no row, and Reset run it;
// Reset is needed after an error too.
type Stmt struct {
	conn *Conn
	stmt uintptr
	// values holds the texts and blobs of the parameters until Reset.
	values buffer
}

// Close releases the statement.
func (s *Stmt) Close() {
	lib.Xsqlite3_finalize(s.conn.tls, s.stmt) // repeats the error of its last run
	s.values.free(s.conn.tls)
}

// Bind sets all parameters. An argument is nil, an integer, a bool, a string or a []byte, a
// pointer to one, or a driver.Valuer.
func (s *Stmt) Bind(args []any) error {
	if n := int(lib.Xsqlite3_bind_parameter_count(s.conn.tls, s.stmt)); n != len(args) {
		return fmt.Errorf("sqlite: %d arguments for %d parameters", len(args), n)
	}
	var few [24]parameter
	parameters, size := few[:0], 1 // an empty text has an address too
	for _, arg := range args {
		p, err := parameterOf(arg)
		if err != nil {
			return err
		}
		parameters, size = append(parameters, p), size+len(p.text)+len(p.blob)
	}
	s.values.reserve(s.conn.tls, size)
	place := s.values.address
	for i, p := range parameters {
		rc, n := int32(lib.SQLITE_OK), int32(i+1)
		switch p.kind {
		case lib.SQLITE_NULL:
			rc = lib.Xsqlite3_bind_null(s.conn.tls, s.stmt, n)
		case lib.SQLITE_INTEGER:
			rc = lib.Xsqlite3_bind_int64(s.conn.tls, s.stmt, n, p.number)
		case lib.SQLITE_TEXT:
			copy(memory(place, len(p.text)), p.text)
			rc = lib.Xsqlite3_bind_text(s.conn.tls, s.stmt, n, place, int32(len(p.text)), lib.SQLITE_STATIC)
			place += uintptr(len(p.text))
		case lib.SQLITE_BLOB:
			copy(memory(place, len(p.blob)), p.blob)
			rc = lib.Xsqlite3_bind_blob(s.conn.tls, s.stmt, n, place, int32(len(p.blob)), lib.SQLITE_STATIC)
			place += uintptr(len(p.blob))
		}
		if err := s.conn.check(rc); err != nil {
			return err
		}
	}
	return nil
}

// parameter is the value of a parameter. Its kind says which field has it.
type parameter struct {
	kind   int32
	number int64
	text   string
	blob   []byte
}

func parameterOf(arg any) (parameter, error) {
	switch v := arg.(type) {
	case nil:
		return parameter{kind: lib.SQLITE_NULL}, nil
	case int64:
		return parameter{kind: lib.SQLITE_INTEGER, number: v}, nil
	case *int64:
		return parameter{kind: lib.SQLITE_INTEGER, number: *v}, nil
	case int:
		return parameter{kind: lib.SQLITE_INTEGER, number: int64(v)}, nil
	case *int:
		return parameter{kind: lib.SQLITE_INTEGER, number: int64(*v)}, nil
	case bool:
		p := parameter{kind: lib.SQLITE_INTEGER}
		if v {
			p.number = 1
		}
		return p, nil
	case *bool:
		return parameterOf(*v)
	case string:
		return parameter{kind: lib.SQLITE_TEXT, text: v}, nil
	case *string:
		return parameter{kind: lib.SQLITE_TEXT, text: *v}, nil
	case []byte:
		if v == nil {
			return parameter{kind: lib.SQLITE_NULL}, nil
		}
		return parameter{kind: lib.SQLITE_BLOB, blob: v}, nil
	case *[]byte:
		return parameterOf(*v)
	}
	plain, err := driver.DefaultParameterConverter.ConvertValue(arg) // a driver.Valuer among others
	if err != nil {
		return parameter{}, err
	}
	switch plain.(type) {
	case nil, int64, bool, string, []byte:
		return parameterOf(plain)
	}
	return parameter{}, fmt.Errorf("sqlite: no parameter can be a %T", plain)
}

// Step runs the statement until its next row, and reports whether there is one.
func (s *Stmt) Step() (bool, error) {
	switch rc := lib.Xsqlite3_step(s.conn.tls, s.stmt); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.conn.failure(rc)
	}
}

// Reset ends a run of the statement.
func (s *Stmt) Reset() {
	lib.Xsqlite3_reset(s.conn.tls, s.stmt) // repeats the error of Step
	lib.Xsqlite3_clear_bindings(s.conn.tls, s.stmt)
	if s.values.size > keptBuffer {
		s.values.free(s.conn.tls)
	}
}

// Columns returns how many columns a row has.
func (s *Stmt) Columns() int { return int(lib.Xsqlite3_column_count(s.conn.tls, s.stmt)) }

// Type returns the type of a column of the row, such as lib.SQLITE_NULL.
func (s *Stmt) Type(column int) int32 {
	return lib.Xsqlite3_column_type(s.conn.tls, s.stmt, int32(column))
}

// Int64 returns an integer of the row.
func (s *Stmt) Int64(column int) int64 {
	return lib.Xsqlite3_column_int64(s.conn.tls, s.stmt, int32(column))
}

// Text returns a text of the row.
func (s *Stmt) Text(column int) string {
	return string(s.bytes(lib.Xsqlite3_column_text(s.conn.tls, s.stmt, int32(column)), column))
}

// SetText sets *text to a text of the row. It copies nothing if that is the same already, as
// in the rows of a list that have a column in common.
func (s *Stmt) SetText(text *string, column int) {
	if b := s.bytes(lib.Xsqlite3_column_text(s.conn.tls, s.stmt, int32(column)), column); string(b) != *text {
		*text = string(b)
	}
}

// Blob returns a blob of the row, and nil for an empty one.
func (s *Stmt) Blob(column int) []byte {
	return append([]byte(nil), s.bytes(lib.Xsqlite3_column_blob(s.conn.tls, s.stmt, int32(column)), column)...)
}

// bytes returns a text or a blob, which the next call of SQLite may overwrite.
func (s *Stmt) bytes(address uintptr, column int) []byte {
	n := int(lib.Xsqlite3_column_bytes(s.conn.tls, s.stmt, int32(column)))
	if address == 0 || n == 0 {
		return nil
	}
	return memory(address, n)
}
