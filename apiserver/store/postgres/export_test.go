package postgres

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// WithMigration adds a migration to the schema, as a later version of the program does.
func (o Options) WithMigration(text string) Options {
	o.migrations = storetest.Migrations(dialect.Migrations, text)
	return o
}
