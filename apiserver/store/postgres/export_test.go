package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// WithTracer sets what is called with each statement.
func (o Options) WithTracer(see func(statement string)) Options {
	o.tracer = tracer{see: see}
	return o
}

// tracer calls see with each statement of a batch. The others have no arguments.
type tracer struct {
	see func(statement string)
}

func (tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (t tracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	t.see(data.SQL)
}
func (tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// PlanSettings are those of each transaction.
const PlanSettings = planSettings

// WithMigration adds a migration to the schema, as a later version of the program has it.
func (o Options) WithMigration(text string) Options {
	o.migrations = storetest.Migrations(dialect.Migrations, text)
	return o
}
