package sqlstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
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

// made matches the tables, views and triggers that a migration creates.
var made = regexp.MustCompile(`\bCREATE (TABLE|VIEW|TRIGGER) (\w+)`)

// checkObjects returns an error if the schema contains a table, a view or a trigger that no migration
// creates: such an object in somebody's backup could change the program's reads and writes.
func checkObjects(ctx context.Context, q Querier, d *Dialect, files []migration) error {
	all, own := "", []string{"table mailhost_migrations", "table mailhost_schema"}
	for _, m := range files {
		all += strings.ReplaceAll(m.text, "\r\n", "\n")
	}
	for _, match := range made.FindAllStringSubmatch(all, -1) {
		own = append(own, strings.ToLower(match[1])+" "+match[2])
	}
	type object struct{ name, definition string }
	objects, err := scan(&reader{ctx: ctx, q: q}, d.Objects, nil, func(o *object) []any { return []any{&o.name, &o.definition} })
	if err != nil {
		return fmt.Errorf("list the objects of the schema: %w", err)
	}
	var foreign []string
	for _, o := range objects {
		if !slices.Contains(own, o.name) || !strings.Contains(all, strings.ReplaceAll(o.definition, "\r\n", "\n")) {
			foreign = append(foreign, "the "+o.name)
		}
	}
	if foreign == nil {
		return nil
	}
	return fmt.Errorf("its schema has what this program did not make: %s; if that is another program's, use a database or a schema without it; if you made it, drop it; otherwise restore a backup that you trust", strings.Join(foreign, ", "))
}

// checkColumns returns an error if no migration creates a column that newTable declared, so that a
// forgotten migration is reported at the start, before statements fail.
func checkColumns(ctx context.Context, q Querier, d *Dialect, files []migration) error {
	columns, err := columnsOfAll(ctx, q, d)
	if err != nil {
		return fmt.Errorf("list the columns of the schema: %w", err)
	}
	var missing []error
	for _, t := range declared {
		lacking := slices.DeleteFunc(slices.Clone(t.columns), func(name string) bool {
			return slices.ContainsFunc(columns[t.name], func(c copiedColumn) bool { return c.name == name })
		})
		if len(lacking) == 0 {
			continue
		}
		what, statement := t.name+" has no column", "ALTER TABLE"
		if len(columns[t.name]) == 0 {
			what, statement = "there is no table "+t.name+" with the columns", "CREATE TABLE"
		}
		missing = append(missing, fmt.Errorf("%s %s: add apiserver/store/sqlite/schema/%04d_….sql with %s, and the file of the same name in apiserver/store/postgres/schema",
			what, strings.Join(lacking, ", "), len(files)+1, statement))
	}
	return errors.Join(missing...)
}

// Migrate migrates the database to the schema of this program, in a transaction that excludes
// migrations by other processes.
func Migrate(ctx context.Context, q Querier, d *Dialect) error {
	files, version, err := versions(ctx, q, d)
	if err != nil || version == len(files) {
		return err
	}
	if version == 0 {
		if _, err := q.ExecContext(ctx, `CREATE TABLE mailhost_migrations (version INTEGER NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)`); err != nil {
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
	if err := errors.Join(checkObjects(ctx, q, d, files), checkColumns(ctx, q, d, files)); err != nil {
		return err
	}
	return d.SetSchemaVersion(ctx, q, len(files))
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
// returns an error if others were applied, which happens between releases only.
func versions(ctx context.Context, q Querier, d *Dialect) (files []migration, version int, err error) {
	files = readMigrations(d)
	if version, err = d.SchemaVersion(ctx, q, len(files)); err != nil {
		return nil, 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if version > len(files) {
		return nil, 0, fmt.Errorf("%w: its schema is version %d and this program knows up to %d;"+
			" run the newer version, or restore a backup from before the upgrade",
			store.ErrNewerSchema, version, len(files))
	}
	if version == 0 {
		return files, 0, checkObjects(ctx, q, d, files) // another process may have migrated since the version was read
	}
	const advice = "another build of this program made it; open it with that one, restore a backup, or choose a new database"
	r := reader{ctx: ctx, q: q}
	applied, err := column[string](&r, `SELECT m.checksum FROM mailhost_migrations m ORDER BY m.version`)
	if err != nil {
		return nil, 0, fmt.Errorf("read the list of migrations; if there is none, %s: %w", advice, err)
	}
	for i, m := range files[:version] {
		if i >= len(applied) || applied[i] != m.checksum() {
			return nil, 0, fmt.Errorf("its schema is version %d, but not the one that this program makes with %s: %s", version, m.name, advice)
		}
	}
	if version == len(files) && version == len(applied) { // otherwise objects of another version are legitimate
		err = errors.Join(checkObjects(ctx, q, d, files), checkColumns(ctx, q, d, files))
	}
	return files, version, err
}
