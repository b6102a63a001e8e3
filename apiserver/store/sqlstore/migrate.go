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
	files, version, err := versions(ctx, q, d)
	return err == nil && version == len(files), err
}

// Migrate migrates the database to the schema of this program. The caller runs it in a
// transaction that excludes migrations by other processes.
func Migrate(ctx context.Context, q Querier, d Dialect) error {
	files, version, err := versions(ctx, q, d)
	if err != nil || version == len(files) {
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
	}
	return d.SetSchemaVersion(ctx, q, len(files))
}

// versions returns the names of the dialect's migrations in order, and how many of
// them the database has.
func versions(ctx context.Context, q Querier, d Dialect) (files []string, version int, err error) {
	if files, err = fs.Glob(d.Migrations(), "*.sql"); err != nil {
		return nil, 0, err
	}
	for i, name := range files {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, 0, fmt.Errorf("migration %s: want number %04d", name, i+1)
		}
	}
	if version, err = d.SchemaVersion(ctx, q); err != nil {
		return nil, 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if version > len(files) {
		return nil, 0, fmt.Errorf("%w: its schema is version %d and this program knows up to %d;"+
			" run the newer version, or restore a backup from before the upgrade",
			store.ErrNewerSchema, version, len(files))
	}
	return files, version, nil
}
