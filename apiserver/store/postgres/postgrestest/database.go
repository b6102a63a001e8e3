package postgrestest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// owner is the owner of the databases, without any privilege beside.
const owner = "mailhost"

// server is the cluster that the tests of a package share.
type server struct {
	*Cluster
	mu sync.Mutex
	// databases counts those of this process, and free are those that no test uses.
	databases int
	free      []string
}

var shared = sync.OnceValues(func() (*server, error) {
	c, err := New(append(volatile, "synchronous_commit=off")...)
	if err != nil {
		return nil, err
	}
	s := &server{Cluster: c}
	return s, s.exec("postgres", "postgres", `CREATE ROLE `+owner+` LOGIN`)
})

// template creates the database that the others are copies of, when it is first needed.
var template = sync.OnceValue(func() error {
	s, err := shared()
	if err != nil {
		return err
	}
	if err := s.exec("postgres", "postgres", `CREATE DATABASE template_mailhost OWNER `+owner+` TEMPLATE template0`); err != nil {
		return err
	}
	db, err := postgres.Open(context.Background(), s.URL(owner, "template_mailhost"), postgres.Options{})
	if err != nil {
		return err
	}
	return db.Close()
})

// URL returns the URL of an empty database with the current schema, which no other test
// uses meanwhile. It skips the test if there is no PostgreSQL.
func URL(t TB) string {
	t.Helper()
	s := use(t)
	if err := template(); err != nil {
		t.Fatal(err)
	}
	name, err := s.take()
	return s.until(t, name, err, s.giveBack)
}

// EmptyURL is URL for a new database without a schema.
func EmptyURL(t TB) string {
	t.Helper()
	s := use(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := s.create("template0")
	return s.until(t, name, err, s.drop)
}

// until returns the URL of a database that end takes back when the test ends.
func (s *server) until(t TB, name string, err error, end func(string) error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(name); err != nil {
			t.Error(err)
		}
	})
	return s.URL(owner, name)
}

// Open opens a store in a new database. The caller closes it.
func Open(t TB, opts postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), URL(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func use(t TB) *server {
	t.Helper()
	s, err := shared()
	if err != nil {
		skip(t, err)
	}
	return s
}

// take returns a database that an earlier test has given back, or a copy of the template,
// which takes longer.
func (s *server) take() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		name := s.free[last]
		s.free = s.free[:last]
		return name, nil
	}
	return s.create("template_mailhost")
}

// giveBack empties a database for the next test.
func (s *server) giveBack(name string) error {
	clear := `SET lock_timeout = '1s'; SELECT setval(pg_get_serial_sequence('audit_entries', 'id'), 1, false); DELETE FROM ` +
		strings.Join(sqlstore.Tables(), "; DELETE FROM ")
	if s.exec(owner, name, clear) != nil { // the test has changed its schema, for instance
		return s.drop(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, name)
	return nil
}

// create creates a database. The caller has locked mu.
func (s *server) create(template string) (string, error) {
	s.databases++
	name := fmt.Sprint("test", s.databases)
	return name, s.exec("postgres", "postgres", `CREATE DATABASE `+name+` OWNER `+owner+` TEMPLATE `+template)
}

func (s *server) drop(name string) error {
	return s.exec("postgres", "postgres", `DROP DATABASE `+name+` WITH (FORCE)`)
}

// exec runs a script as a user of a database.
func (s *server) exec(user, database, script string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.URL(user, database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, script, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	return nil
}
