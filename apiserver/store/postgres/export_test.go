package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// WithTracer sets what sees each statement.
func (o Options) WithTracer(tracer pgx.QueryTracer) Options {
	o.tracer = tracer
	return o
}

// PlanSettings are those of each transaction.
const PlanSettings = planSettings

// WithMigration adds a migration to the schema, as a later version of the program has it.
func (o Options) WithMigration(text string) Options {
	o.migrations = storetest.Migrations(dialect{}.Migrations(), text)
	return o
}
