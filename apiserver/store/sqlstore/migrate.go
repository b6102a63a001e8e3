package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The errors of opening a database for reading only that lacks this program's schema.
var (
	ErrNoStore     = errors.New("the database is empty: nothing has been stored there yet")
	ErrOlderSchema = errors.New("an older version of this program wrote the database; run `mailhostd serve` once to upgrade the schema")
)

// UpToDate reports whether the database's schema is this program's. It returns an error if the
// schema is later (store.ErrNewerSchema), differs from this program's of the same version, or needs
// a migration although readOnly is set.
func UpToDate(ctx context.Context, q Querier, d *Dialect, readOnly bool) (bool, error) {
	files, version, err := versions(ctx, q, d)
	switch {
	case err != nil || version == len(files):
		return err == nil, err
	case readOnly && version == 0:
		return false, ErrNoStore
	case readOnly:
		return false, ErrOlderSchema
	}
	return false, nil
}

// missingColumns returns the tables that lack columns which newTable declared, with these columns, and the other
// tables that are missing. exists reports which tables exist.
func missingColumns(ctx context.Context, q Querier, d *Dialect) (missing []declaration, exists map[string]bool, err error) {
	columns, err := columnsOfAll(ctx, q, d)
	if err != nil {
		return nil, nil, fmt.Errorf("list the columns of the schema: %w", err)
	}
	exists = map[string]bool{}
	for _, t := range declared {
		t.columns = slices.DeleteFunc(slices.Clone(t.columns), func(name string) bool {
			return slices.ContainsFunc(columns[t.name], func(c copiedColumn) bool { return c.name == name })
		})
		if len(t.columns) > 0 {
			missing = append(missing, t)
		}
	}
	for name := range columns {
		exists[name] = true
	}
	names, _ := d.own(0, 0)
	for _, name := range names {
		if table, ok := strings.CutPrefix(name, "table "); ok && !exists[table] && !slices.ContainsFunc(missing, func(t declaration) bool { return t.name == table }) {
			missing = append(missing, declaration{name: table})
		}
	}
	return missing, exists, nil
}

// checkColumns returns an error if no migration creates a column that newTable declared, so that a
// forgotten migration is reported at the start, before statements fail.
func checkColumns(ctx context.Context, q Querier, d *Dialect, files []migration) error {
	missing, exists, err := missingColumns(ctx, q, d)
	errs := []error{err}
	for _, t := range missing {
		what, statement := t.name+" has no column", "ALTER TABLE"
		if !exists[t.name] {
			what, statement = "there is no table "+t.name+" with the columns", "CREATE TABLE"
		}
		errs = append(errs, fmt.Errorf("%s %s: add apiserver/store/sqlite/schema/%04d_….sql with %s, and the file of the same name in apiserver/store/postgres/schema",
			what, strings.Join(t.columns, ", "), len(files)+1, statement))
	}
	return errors.Join(errs...)
}

// MigrationsTable creates the list of migrations.
const MigrationsTable = `CREATE TABLE mailhost_migrations (version INTEGER NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)`

// Migrate migrates the database to the schema of this program, in a transaction that excludes
// migrations by other processes.
func Migrate(ctx context.Context, q Querier, d *Dialect) error {
	files, version, err := versions(ctx, q, d)
	if err != nil || version == len(files) {
		return err
	}
	if version == 0 {
		if _, err := q.ExecContext(ctx, MigrationsTable); err != nil {
			return fmt.Errorf("create the list of migrations: %w", err)
		}
	}
	for i, m := range files[version:] {
		if _, err := q.ExecContext(ctx, m.text); err != nil {
			return fmt.Errorf("migrate the schema with %s: %w", m.name, err)
		}
		if _, err := q.ExecContext(ctx, `INSERT INTO mailhost_migrations (version, checksum) VALUES ($1, $2)`, version+i+1, m.checksum()); err != nil {
			return fmt.Errorf("list the migration %s: %w", m.name, err)
		}
	}
	if _, err := q.ExecContext(ctx, d.Mark(len(files))); err != nil {
		return fmt.Errorf("set the schema's version: %w", err)
	}
	err = checkObjects(ctx, q, d, len(files), len(files))
	if err != nil && version == 0 { // nobody can have changed a new schema
		err = fmt.Errorf("the migrations make another schema than schema/objects.txt describes; run make golden: %w", err)
	}
	return cmp.Or(err, checkColumns(ctx, q, d, files))
}

// migration is a file of a dialect's Migrations.
type migration struct{ name, text string }

// checksum returns a hash of the text that does not depend on its line endings.
func (m migration) checksum() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.ReplaceAll(m.text, "\r\n", "\n"))))
}

// readMigrations returns the dialect's migrations in order.
func readMigrations(d *Dialect) (files []migration) {
	names, _ := fs.Glob(d.Migrations, "schema/*.sql") // the pattern is valid
	for _, name := range names {
		text, _ := fs.ReadFile(d.Migrations, name) // they are in memory
		files = append(files, migration{path.Base(name), string(text)})
	}
	return files
}

// versions returns the dialect's migrations, and how many of them were applied to the database. It
// returns an error if others were applied, which happens between releases only, or if the schema is not
// the one that they make.
func versions(ctx context.Context, q Querier, d *Dialect) (files []migration, version int, err error) {
	files = readMigrations(d)
	for {
		version, err = readVersion(ctx, q, d, len(files))
		if err != nil {
			return nil, 0, err
		}
		if err = checkVersion(ctx, q, d, files, version); err == nil {
			return files, min(version, len(files)), nil
		}
		if now, failed := readVersion(ctx, q, d, len(files)); failed != nil || now == version {
			return nil, 0, err
		} // otherwise another process migrated meanwhile
	}
}

// readVersion returns the version of the schema, or store.ErrNewerSchema if a program with own
// migrations can't work with it.
func readVersion(ctx context.Context, q Querier, d *Dialect, own int) (int, error) {
	version, compatible, err := d.SchemaVersion(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if compatible > own {
		return 0, fmt.Errorf("%w: its schema is version %d and this program knows up to %d;"+
			" run the newer version, or restore a backup from before the upgrade",
			store.ErrNewerSchema, version, own)
	}
	return version, nil
}

// checkVersion returns an error unless the schema is the one that this program, or a compatible newer
// one, makes with its first migrations.
func checkVersion(ctx context.Context, q Querier, d *Dialect, files []migration, version int) error {
	columns, err := columnsOfAll(ctx, q, d)
	if err != nil {
		return fmt.Errorf("list the columns of the schema: %w", err)
	}
	if version == 0 && columns["mailhost_migrations"] == nil {
		return checkObjects(ctx, q, d, version, len(files))
	}
	const advice = "another build of this program made it; open it with that one, restore a backup, or choose a new database"
	r := reader{ctx: ctx, q: q}
	applied, err := column[string](&r, `SELECT m.checksum FROM mailhost_migrations m ORDER BY m.version`)
	if err != nil {
		return fmt.Errorf("read the list of migrations; if there is none, %s: %w", advice, err)
	}
	known := 0
	for known < min(len(applied), len(files)) && applied[known] == files[known].checksum() {
		known++
	}
	switch {
	case known > 0 && known == len(applied) && known != version:
		return fmt.Errorf("it is marked as schema version %d, but its list of migrations has %d: the mark was changed; stop the servers and run in the database `%s`, or restore a backup that you trust",
			version, known, d.Mark(known))
	case known < min(version, len(files)):
		return fmt.Errorf("its schema is version %d, but not the one that this program makes with %s: %s", version, files[known].name, advice)
	case len(applied) != version, version == 0:
		return fmt.Errorf("its schema is version %d, but its list of migrations has %d: %s", version, len(applied), advice)
	}
	err = checkObjects(ctx, q, d, version, len(files))
	if err != nil || version < len(files) { // Migrate checks the result
		return err
	}
	return checkColumns(ctx, q, d, files)
}

// checkServable returns a *store.SchemaError if this program can't work with the database's schema any
// longer: a newer program migrated it, or a table or a column is gone. A column that a newer program added
// does no harm.
func (d *Dialect) checkServable(ctx context.Context, q Querier) error {
	version, err := readVersion(ctx, q, d, len(readMigrations(d)))
	switch {
	case errors.Is(err, store.ErrNewerSchema):
		return &store.SchemaError{Err: err}
	case err != nil:
		return err
	}
	missing, exists, err := missingColumns(ctx, q, d)
	switch {
	case err != nil:
		return err
	case version == 0 && !exists["mailhost_migrations"]:
		return &store.SchemaError{Err: ErrNoStore}
	case version == 0:
		return &store.SchemaError{Err: errors.New("the version of the database's schema is gone; run mailhostd doctor")}
	case missing == nil:
		return nil
	}
	var names []string
	for _, t := range missing {
		if t.columns != nil {
			t.name += " (" + strings.Join(t.columns, ", ") + ")"
		}
		names = append(names, t.name)
	}
	return &store.SchemaError{Err: fmt.Errorf("the database's schema lacks tables or columns that this program needs: %s; run mailhostd doctor", strings.Join(names, ", "))}
}
