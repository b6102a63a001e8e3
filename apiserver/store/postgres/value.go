package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// flag is a bool. Statements use some columns of bools as conditions and some as numbers,
// and the schema has the type that they need.
type flag bool

// BoolValue implements pgtype.BoolValuer.
func (f flag) BoolValue() (pgtype.Bool, error) { return pgtype.Bool{Bool: bool(f), Valid: true}, nil }

// Int64Value implements pgtype.Int64Valuer.
func (f flag) Int64Value() (pgtype.Int8, error) {
	v := pgtype.Int8{Valid: true}
	if f {
		v.Int64 = 1
	}
	return v, nil
}

// argument converts what sqlstore.Querier allows as an argument.
func argument(arg any) (any, error) {
	switch v := arg.(type) {
	case nil, int64, string:
		return arg, nil
	case *int64:
		return *v, nil
	case int:
		return int64(v), nil
	case *int:
		return int64(*v), nil
	case bool:
		return flag(v), nil
	case *bool:
		return flag(*v), nil
	case *string:
		return *v, nil
	case []byte:
		return blob(v), nil
	case *[]byte:
		return blob(*v), nil
	}
	plain, err := driver.DefaultParameterConverter.ConvertValue(arg) // a driver.Valuer among others
	if err != nil {
		return nil, err
	}
	switch plain.(type) {
	case nil, int64, bool, string, []byte:
		return argument(plain)
	}
	return nil, fmt.Errorf("no parameter can be a %T", plain)
}

// blob returns NULL for a nil slice.
func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// rows are the sqlstore.Rows of a query, in the binary format.
type rows struct {
	pgx.Rows
	transaction *transaction
	cancel      context.CancelFunc
}

// Next implements sqlstore.Rows.
func (r *rows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	_ = r.Close() // Err has the error
	return false
}

// Close implements sqlstore.Rows. The error is in Err.
func (r *rows) Close() error {
	r.Rows.Close()
	err := r.Rows.Err()
	r.cancel()
	r.transaction.fail(err)
	return nil
}

// Scan implements sqlstore.Rows.
func (r *rows) Scan(dest ...any) error {
	fields, values := r.FieldDescriptions(), r.RawValues()
	if len(values) != len(dest) {
		return fmt.Errorf("a row has %d columns, not %d", len(values), len(dest))
	}
	for i, d := range dest {
		if err := scan(fields[i].DataTypeOID, values[i], d); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

func scan(oid uint32, encoded []byte, dest any) error {
	v, err := decode(oid, encoded)
	if err != nil {
		return err
	}
	fits := false
	switch d := dest.(type) {
	case interface{ Scan(src any) error }: // sql.Scanner
		return d.Scan(v)
	case *any:
		*d, fits = v, true
	case *string:
		if *d, fits = v.(string); !fits { // an id may be a number
			var n int64
			n, fits = v.(int64)
			*d = strconv.FormatInt(n, 10)
		}
	case *[]byte:
		if *d, fits = v.([]byte); v == nil {
			fits = true
		}
	case *int64:
		*d, fits = v.(int64)
	case *int:
		var n int64
		n, fits = v.(int64)
		*d = int(n)
	case *bool:
		var n int64
		n, fits = v.(int64)
		*d = n != 0
	case **int64:
		*d = nil
		n, ok := v.(int64)
		if ok {
			*d = &n
		}
		fits = ok || v == nil
	}
	if !fits {
		return fmt.Errorf("a %T can't be scanned into a %T", v, dest)
	}
	return nil
}

// decode returns a column as database/sql does, but a bool as 0 or 1. An empty
// bytea is nil.
func decode(oid uint32, encoded []byte) (any, error) {
	if encoded == nil {
		return nil, nil
	}
	switch oid {
	case pgtype.Int8OID:
		return int64(binary.BigEndian.Uint64(encoded)), nil
	case pgtype.Int4OID:
		return int64(int32(binary.BigEndian.Uint32(encoded))), nil
	case pgtype.BoolOID:
		return int64(encoded[0]), nil
	case pgtype.TextOID:
		return string(encoded), nil
	case pgtype.ByteaOID:
		return append([]byte(nil), encoded...), nil
	}
	return nil, fmt.Errorf("its type has the unexpected OID %d", oid)
}
