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
