package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// OpenOptions configure the opening of a store.
type OpenOptions struct {
	// ReadOnly opens an existing database without migrating it.
	ReadOnly bool
	// Exclusive opens an existing file that no server uses, and keeps servers out until it is
	// closed; it fails with store.ErrInUse otherwise. It does nothing for a database server.
	Exclusive bool
	// Connections is the largest number of connections to a database server; 0: its
	// default.
	Connections int
}

// OpenDatabase opens an SQLite file, or the database of a postgres:// URL.
func OpenDatabase(ctx context.Context, database string, o OpenOptions) (db *sqlstore.Store, err error) {
	switch scheme := Scheme(database); scheme {
	case "":
		db, err = sqlite.Open(ctx, database, sqlite.Options{ReadOnly: o.ReadOnly, Exclusive: o.Exclusive})
	case "postgres", "postgresql":
		db, err = postgres.Open(ctx, "postgres"+database[len(scheme):], postgres.Options{ReadOnly: o.ReadOnly, Connections: o.Connections})
	default:
		return nil, fmt.Errorf("--database: %s:// is no database; give the path of an SQLite file or a postgres:// URL", scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("the database can't be opened: %w", err)
	}
	return db, nil
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

// DatabaseMapper decodes flags and arguments with the tag type:"database", which can't name a
// database that exists only in its own process.
var DatabaseMapper = kong.NamedMapper("database", kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
	name := ""
	if err := ctx.Scan.PopValueInto("string", &name); err != nil {
		return err
	}
	if name == sqlite.Memory {
		return errors.New("a database in memory is visible only to its own process; name a file")
	}
	target.SetString(name)
	return nil
}))

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
