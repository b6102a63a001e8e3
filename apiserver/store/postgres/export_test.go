package postgres

import (
	"fmt"
	"io/fs"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
)

// WithBlockRows sets the number of rows of a new block of a list.
func (o Options) WithBlockRows(n int) Options {
	o.blockRows = n
	return o
}

// WithAcquireTimeout sets how long to wait for a connection, and for BEGIN.
func (o Options) WithAcquireTimeout(d time.Duration) Options {
	o.acquireTimeout = d
	return o
}

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

// Waiting returns how many updates of an account wait for their turn.
func (s *Store) Waiting(account string) int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if q := s.engine.accounts[account]; q != nil {
		return len(q.waiting)
	}
	return 0
}
