package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// Schema contains the migrations.
var Schema = schema

// WithMigration adds a migration to the schema, as a later version of the program does.
func (o Options) WithMigration(text string) Options {
	o.migrations = storetest.Migrations(dialect.Migrations, text)
	return o
}

// Describe returns the objects that statements make in a new schema, and undoes all of it.
func Describe(ctx context.Context, s *sqlstore.Store, version int, statements string) (text string, err error) {
	s.Wrap(func(e sqlstore.Engine) sqlstore.Engine {
		undone := e.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error {
			if _, err := q.ExecContext(ctx, "CREATE SCHEMA own; SET LOCAL search_path = own; "+sqlstore.MigrationsTable+"; "+statements+dialect.Mark(version)); err != nil {
				return err
			}
			text, err = sqlstore.Describe(ctx, q, &dialect)
			return errUndo
		})
		if !errors.Is(undone, errUndo) {
			err = undone
		}
		return e
	})
	return text, err
}

// Check runs statements in a store's database, returns what opening it would return then, and undoes all of it.
func Check(ctx context.Context, s *sqlstore.Store, statements string) (err error) {
	s.Wrap(func(e sqlstore.Engine) sqlstore.Engine {
		undone := e.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error {
			if _, err := q.ExecContext(ctx, statements+";"); err != nil {
				return fmt.Errorf("%s: %w", statements, err)
			}
			_, err = sqlstore.UpToDate(ctx, q, &dialect, false)
			return errUndo
		})
		if !errors.Is(undone, errUndo) {
			err = undone
		}
		return e
	})
	return err
}
