package postgrestest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// owner is the role that owns the databases. It has no other privilege.
const owner = "mailhost"

// shared starts the cluster that the tests of a package share.
var shared = sync.OnceValues(func() (*Cluster, error) {
	c, err := New(append(volatile, "synchronous_commit=off")...)
	if err != nil {
		return nil, err
	}
	return c, c.exec(`CREATE ROLE ` + owner + ` LOGIN`)
})

// template makes the database in the shared cluster that URL copies.
var template = sync.OnceValues(func() (name string, err error) {
	c, err := shared()
	if err != nil {
		return "", err
	}
	name = "template_mailhost"
	if err := c.exec(`CREATE DATABASE ` + name + ` OWNER ` + owner + ` TEMPLATE template0`); err != nil {
		return "", err
	}
	db, err := postgres.Open(context.Background(), c.URL(owner, name), postgres.Options{})
	if err != nil {
		return "", err
	}
	return name, db.Close()
})

// URL returns the URL of a new database with the current schema, which is dropped when the
// test ends. It skips the test if there is no PostgreSQL.
func URL(t TB) string {
	t.Helper()
	name, err := template()
	if err != nil {
		skip(t, err)
	}
	return newDatabase(t, name)
}

// EmptyURL is URL for a database without a schema.
func EmptyURL(t TB) string {
	t.Helper()
	return newDatabase(t, "template0")
}

var databases atomic.Int64

func newDatabase(t TB, from string) string {
	t.Helper()
	c, err := shared()
	if err != nil {
		skip(t, err)
	}
	name := fmt.Sprint("test", databases.Add(1))
	assert.NilError(t, c.exec(`CREATE DATABASE `+name+` OWNER `+owner+` TEMPLATE `+from))
	t.Cleanup(func() {
		assert.Check(t, c.exec(`DROP DATABASE `+name+` WITH (FORCE)`))
	})
	return c.URL(owner, name)
}

// Open opens a store in a new database. The caller closes it.
func Open(t TB, opts postgres.Options) *sqlstore.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), URL(t), opts)
	assert.NilError(t, err)
	return s
}

// exec runs a statement as the administrator.
func (c *Cluster) exec(statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.URL("postgres", "postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
