package postgres

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// argument converts what sqlstore.Querier allows as an argument.
func argument(arg any) (any, error) {
	plain, err := driver.DefaultParameterConverter.ConvertValue(arg) // a driver.Valuer among others
	if err != nil {
		return nil, err
	}
	switch v := plain.(type) {
	case nil, int64, string, bool:
		return plain, nil
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

// Close implements sqlstore.Rows. The error is in Err.
func (r *rows) Close() error {
	r.Rows.Close()
	r.transaction.fail(r.batch.Close())
	r.cancel()
	return nil
}
