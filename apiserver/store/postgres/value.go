package postgres

import (
	"context"
	"database/sql/driver"
	"fmt"

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

// ScanBool implements pgtype.BoolScanner.
func (f *flag) ScanBool(v pgtype.Bool) error {
	*f = flag(v.Bool)
	return nil
}

// ScanInt64 implements pgtype.Int64Scanner.
func (f *flag) ScanInt64(v pgtype.Int8) error {
	*f = v.Int64 != 0
	return nil
}

// argument converts what sqlstore.Querier allows as an argument.
func argument(arg any) (any, error) {
	plain, err := driver.DefaultParameterConverter.ConvertValue(arg) // a driver.Valuer among others
	if err != nil {
		return nil, err
	}
	switch v := plain.(type) {
	case nil, int64, string:
		return plain, nil
	case bool:
		return flag(v), nil
	case []byte:
		if v == nil {
			return nil, nil // NULL
		}
		return v, nil
	}
	return nil, fmt.Errorf("no parameter can be a %T", plain)
}

// rows are the sqlstore.Rows of the last statement of a batch.
type rows struct {
	pgx.Rows
	batch       pgx.BatchResults
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

// Scan implements sqlstore.Rows.
func (r *rows) Scan(dest ...any) error {
	for i, d := range dest {
		if b, ok := d.(*bool); ok {
			dest[i] = (*flag)(b)
		}
	}
	return r.Rows.Scan(dest...)
}

// Close implements sqlstore.Rows. The error is in Err.
func (r *rows) Close() error {
	r.Rows.Close()
	r.transaction.fail(r.batch.Close())
	r.cancel()
	return nil
}
