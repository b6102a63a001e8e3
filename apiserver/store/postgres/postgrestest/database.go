package postgrestest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// owner is the owner of the databases, without any privilege beside.
const owner = "mailhost"

// server is where the databases of the tests are.
type server struct {
	// admin is the URL of a superuser.
	admin   string
	cluster *Cluster // nil if it is not ours; while it is referred to, it runs
	// template is created when it is first needed.
	template func() error

	mu sync.Mutex
	// free are databases that no test uses.
	free []string
}

var (
	shared = sync.OnceValues(func() (*server, error) {
		if u := os.Getenv(variable); u != "" && u != required && u != none {
			return newServer(u, nil), nil
		}
		c, err := New(append(volatile, "synchronous_commit=off")...)
		if err != nil {
			return nil, err
		}
		return newServer(c.URL("postgres", "postgres"), c), nil
	})
	// databases counts those of this process.
	databases atomic.Int64
)

// URL returns the URL of an empty database with the current schema, which no other test
// uses meanwhile. It skips the test if there is no PostgreSQL.
func URL(t TB) string {
	t.Helper()
	s := use(t)
	if err := s.template(); err != nil {
		t.Fatal(err)
	}
	name, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.giveBack(name); err != nil {
			t.Error(err)
		}
	})
	return s.url(name)
}

// EmptyURL is URL for a new database without a schema.
func EmptyURL(t TB) string {
	t.Helper()
	s := use(t)
	name, err := s.create("template0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.drop(name); err != nil {
			t.Error(err)
		}
	})
	return s.url(name)
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

// prefix is the name of the template, and the beginning of the others' names. Several
// processes may test on one server.
func prefix() string { return fmt.Sprintf("mailhost_test_%d", os.Getpid()) }

func newServer(admin string, c *Cluster) *server {
	s := &server{admin: admin, cluster: c}
	s.template = sync.OnceValue(func() error {
		if err := s.exec(s.admin, createOwner, `CREATE DATABASE `+prefix()+` OWNER `+owner+` TEMPLATE template0`); err != nil {
			return err
		}
		db, err := postgres.Open(context.Background(), s.url(prefix()), postgres.Options{})
		if err != nil {
			return err
		}
		return db.Close()
	})
	return s
}

const createOwner = `DO $$ BEGIN CREATE ROLE ` + owner + ` LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`

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
	return s.create(prefix())
}

// giveBack empties a database for the next test.
func (s *server) giveBack(name string) error {
	clear := []string{`SET lock_timeout = '1s'`}
	for _, table := range sqlstore.Tables() {
		clear = append(clear, `DELETE FROM `+table)
	}
	clear = append(clear, `SELECT setval(pg_get_serial_sequence('audit_entries', 'id'), 1, false)`)
	if s.exec(s.url(name), strings.Join(clear, "; ")) != nil { // the test has changed its schema, for instance
		return s.drop(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, name)
	return nil
}

func (s *server) create(template string) (string, error) {
	name := fmt.Sprintf("%s_%d", prefix(), databases.Add(1))
	return name, s.exec(s.admin, createOwner, `CREATE DATABASE `+name+` OWNER `+owner+` TEMPLATE `+template)
}

func (s *server) drop(name string) error {
	return s.exec(s.admin, `DROP DATABASE `+name+` WITH (FORCE)`)
}

// url returns the URL of a database for the tests' user.
func (s *server) url(database string) string {
	u, err := url.Parse(s.admin)
	if err != nil {
		panic(err) // the connection to it has succeeded
	}
	u.User, u.Path = url.User(owner), "/"+database
	return u.String()
}

// exec runs statements in a database.
func (s *server) exec(database string, statements ...string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
