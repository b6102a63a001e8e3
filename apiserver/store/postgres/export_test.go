package postgres

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// WithMigration adds a migration to the schema, as a later version of the program does.
func (o Options) WithMigration(text string) Options {
	o.migrations = storetest.Migrations(dialect.Migrations, text)
	return o
}

// Describe returns the objects of a store's database.
func Describe(ctx context.Context, s *sqlstore.Store) (text string, err error) {
	s.Wrap(func(e sqlstore.Engine) sqlstore.Engine {
		err = e.View(ctx, func(ctx context.Context, q sqlstore.Querier) (err error) {
			text, err = sqlstore.Describe(ctx, q, &dialect)
			return err
		})
		return e
	})
	return text, err
}
