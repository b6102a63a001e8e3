package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// UpToDate reports whether the database has the schema of this program. A later
// schema is an error that is store.ErrNewerSchema.
func UpToDate(ctx context.Context, q Querier, d Dialect) (bool, error) {
	files, err := migrations(d)
	if err != nil {
		return false, err
	}
	version, err := d.SchemaVersion(ctx, q)
	if err != nil {
		return false, fmt.Errorf("read the schema's version: %w", err)
	}
	if version > len(files) {
		return false, fmt.Errorf("%w: its schema is version %d and this program knows up to %d;"+
			" run the newer version, or restore a backup from before the upgrade",
			store.ErrNewerSchema, version, len(files))
	}
	return version == len(files), nil
}

// Migrate migrates the database to the schema of this program. The caller runs it in a
// transaction that excludes migrations by other processes.
func Migrate(ctx context.Context, q Querier, d Dialect) error {
	if done, err := UpToDate(ctx, q, d); done || err != nil {
		return err
	}
	version, err := d.SchemaVersion(ctx, q)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	files, err := migrations(d)
	if err != nil {
		return err
	}
	for _, name := range files[version:] {
		text, err := fs.ReadFile(d.Migrations(), name)
		if err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("migrate the schema with %s: %w", name, err)
		}
		if fill := fillers[nameOf(name)]; fill != nil {
			if err := fill(&tx{reader: reader{ctx: ctx, q: q, dialect: d}}); err != nil {
				return fmt.Errorf("migrate the data with %s: %w", name, err)
			}
		}
	}
	return d.SetSchemaVersion(ctx, q, len(files))
}

// fillers fill in columns that SQL can't compute, after the migration of that name.
// They use the schema that there is at that point.
var fillers = map[string]func(*tx) error{
	"dns_purpose":  fillDNSPurposes,
	"folded_names": fillFoldedNames,
}

// nameOf returns the name of a migration without its number.
func nameOf(file string) string {
	_, name, _ := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	return name
}

// migrations returns the names of the dialect's files in order.
func migrations(d Dialect) ([]string, error) {
	names, err := fs.Glob(d.Migrations(), "*.sql")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", name, i+1)
		}
	}
	return names, nil
}
