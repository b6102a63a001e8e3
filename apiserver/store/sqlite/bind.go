package sqlite

import (
	"database/sql/driver"
	"fmt"

	zombiezen "zombiezen.com/go/sqlite"
)

// bind sets all parameters of a statement to what sqlstore.Querier allows as arguments.
func bind(stmt *zombiezen.Stmt, args []any) error {
	if n := stmt.BindParamCount(); n != len(args) {
		return fmt.Errorf("%d arguments for %d parameters", len(args), n)
	}
	for i, arg := range args {
		if err := bindOne(stmt, i+1, arg); err != nil {
			return err
		}
	}
	return nil
}

func bindOne(stmt *zombiezen.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		stmt.BindNull(i)
	case int64:
		stmt.BindInt64(i, v)
	case *int64:
		stmt.BindInt64(i, *v)
	case int:
		stmt.BindInt64(i, int64(v))
	case *int:
		stmt.BindInt64(i, int64(*v))
	case bool:
		stmt.BindBool(i, v)
	case *bool:
		stmt.BindBool(i, *v)
	case string:
		stmt.BindText(i, v)
	case *string:
		stmt.BindText(i, *v)
	case []byte:
		bindBlob(stmt, i, v)
	case *[]byte:
		bindBlob(stmt, i, *v)
	default:
		plain, err := driver.DefaultParameterConverter.ConvertValue(arg) // a driver.Valuer among others
		if err != nil {
			return err
		}
		switch plain.(type) {
		case nil, int64, bool, string, []byte:
			return bindOne(stmt, i, plain)
		}
		return fmt.Errorf("no parameter can be a %T", plain)
	}
	return nil
}

func bindBlob(stmt *zombiezen.Stmt, i int, blob []byte) {
	if blob == nil {
		stmt.BindNull(i)
		return
	}
	stmt.BindBytes(i, blob)
}

// reset ends a run of a statement and frees its arguments. Its errors repeat that of the run.
func reset(stmt *zombiezen.Stmt) {
	_ = stmt.Reset()
	_ = stmt.ClearBindings()
}
