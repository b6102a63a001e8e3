package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// OpenOptions configure the opening of a store.
type OpenOptions struct {
	// ReadOnly opens an existing database without migrating it.
	ReadOnly bool
	// Exclusive opens an existing file that no server uses, and keeps servers out until it is closed;
	// otherwise it fails with store.ErrInUse. It does nothing for a database server. With ReadOnly, a file that
	// nobody can write here is opened to read it.
	Exclusive bool
	// Memory permits a database in the memory of this process.
	Memory bool
	// Connections limits the connections to a database server; 0 means the default.
	Connections int
}

var errMemory = UsageError("the database :memory: is visible only to its own process; name a file")

// OpenDatabase opens an SQLite file, or the database of a postgres:// URL.
func OpenDatabase(ctx context.Context, database string, o OpenOptions) (db *sqlstore.Store, err error) {
	switch scheme := Scheme(database); {
	case database == sqlite.Memory && !o.Memory:
		return nil, errMemory
	case isURI(database):
		return nil, UsageError("--database: %.80q is a URI of SQLite; give the path of a file, such as mailhost.db, or "+sqlite.Memory+" for a database in memory, without parameters", database)
	case scheme == "":
		db, err = sqlite.Open(ctx, database, sqlite.Options{ReadOnly: o.ReadOnly, Exclusive: o.Exclusive})
	case scheme == "postgres" || scheme == "postgresql":
		db, err = postgres.Open(ctx, "postgres"+database[len(scheme):], postgres.Options{ReadOnly: o.ReadOnly && !o.Exclusive, Connections: o.Connections})
	default:
		return nil, fmt.Errorf("--database: %s:// is no database; give the path of an SQLite file or a postgres:// URL", scheme)
	}
	if err != nil {
		return nil, fmt.Errorf("the database can't be opened: %w", err)
	}
	return db, nil
}

// InspectServer returns what a database server permits, or nil for an SQLite file.
func InspectServer(ctx context.Context, database string) (*postgres.Inspection, error) {
	scheme := Scheme(database)
	if scheme != "postgres" && scheme != "postgresql" {
		return nil, nil
	}
	i, err := postgres.Inspect(ctx, "postgres"+database[len(scheme):])
	return &i, err
}

// isURI reports whether a database is named as other programs of SQLite name it. Its file would be named like
// the URI.
func isURI(database string) bool {
	lower := strings.ToLower(database)
	return slices.ContainsFunc([]string{"file:", "sqlite:", "sqlite3:", sqlite.Memory + "?"}, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

// Scheme returns the scheme of a database URL, or "" for a file path.
func Scheme(database string) string {
	scheme, _, ok := strings.Cut(database, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// RedactDatabase returns a file path unchanged, but only the scheme of a URL, which may contain a password.
func RedactDatabase(database string) string {
	if s := Scheme(database); s != "" {
		return s + "://…"
	}
	return database
}

// ReadFile reads a file with read. name is the flag or argument, for errors.
func ReadFile[T any](name, path string, read func(io.Reader) (T, error)) (content T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return content, fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close()
	if content, err = read(file); err != nil {
		return content, fmt.Errorf("%s %s: %w", name, path, err)
	}
	return content, nil
}
