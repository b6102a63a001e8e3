package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// OpenOptions configure the opening of a store.
type OpenOptions struct {
	// ReadOnly opens an existing database without migrating it.
	ReadOnly bool
	// Exclusive opens an existing database that no server uses, and keeps servers out of a
	// file until it is closed; it fails with store.ErrInUse otherwise.
	Exclusive bool
	// Connections is the largest number of connections to a database server; 0: its
	// default.
	Connections int
}

type Opener func(ctx context.Context, database string, o OpenOptions) (store.Store, error)

// Openers maps the scheme of a database URL to its opener. The opener of "" takes a
// file path.
type Openers map[string]Opener

func Engines() Openers {
	openPostgres := func(ctx context.Context, url string, o OpenOptions) (store.Store, error) {
		_, rest, _ := strings.Cut(url, "://") // the scheme may be in upper case
		return postgres.Open(ctx, "postgres://"+rest, postgres.Options{ReadOnly: o.ReadOnly, Exclusive: o.Exclusive, Connections: o.Connections})
	}
	return Openers{
		"postgres":   openPostgres,
		"postgresql": openPostgres,
		"": func(ctx context.Context, path string, o OpenOptions) (store.Store, error) {
			if o.Exclusive {
				return sqlite.OpenExclusive(ctx, path)
			}
			return sqlite.Open(ctx, path, sqlite.Options{ReadOnly: o.ReadOnly})
		},
	}
}

// Scheme returns the scheme of a database URL, or "" for a file path.
func Scheme(database string) string {
	scheme, _, ok := strings.Cut(database, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// RedactDatabase returns a file path as it is, and of a URL, which may contain a
// password, only the scheme.
func RedactDatabase(database string) string {
	if s := Scheme(database); s != "" {
		return s + "://…"
	}
	return database
}

// RequireFile returns an error for a database that exists only in one process.
func RequireFile(database string) error {
	if database == sqlite.Memory {
		return errors.New("--database: a database in memory is visible only to its own process; name a file")
	}
	return nil
}

func (o Openers) Open(ctx context.Context, database string, options OpenOptions) (store.Store, error) {
	s := Scheme(database)
	opener, ok := o[s]
	if !ok {
		return nil, fmt.Errorf("--database: this build can't open %s://; it takes %s", s, o.describe())
	}
	db, err := opener(ctx, database, options)
	if err != nil {
		return nil, fmt.Errorf("the database can't be opened: %w", err)
	}
	return db, nil
}

func (o Openers) describe() string {
	forms := []string{"the path of an SQLite file"}
	for _, s := range slices.Sorted(maps.Keys(o)) {
		if s != "" {
			forms = append(forms, "a "+s+":// URL")
		}
	}
	return strings.Join(forms, " or ")
}

// ReadFixture reads and checks a fixture. what names it in errors, for instance --fixture.
func ReadFixture(what, path string) (*fixture.Fixture, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer file.Close()
	f, err := fixture.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, path, err)
	}
	return f, nil
}
