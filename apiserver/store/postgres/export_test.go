package postgres

import (
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
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
	files := fstest.MapFS{}
	names, err := fs.Glob(dialect{}.Migrations(), "*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(dialect{}.Migrations(), name)
		if err != nil {
			panic(err)
		}
		files[name] = &fstest.MapFile{Data: content}
	}
	files[fmt.Sprintf("%04d_next.sql", len(names)+1)] = &fstest.MapFile{Data: []byte(text)}
	o.migrations = files
	return o
}
