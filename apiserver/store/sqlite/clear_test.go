package sqlite

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

// TestTablesMatchSchema checks that sqlstore.Tables lists every table of the schema.
func TestTablesMatchSchema(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	var tables []string
	err := s.engine.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		rows, err := q.QueryContext(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('authorization_version', 'mailhost_migrations')`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			tables = append(tables, "")
			if err := rows.Scan(&tables[len(tables)-1]); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	known := sqlstore.Tables()
	slices.Sort(tables)
	slices.Sort(known)
	if !slices.Equal(known, tables) {
		t.Errorf("sqlstore.Tables() has %q, the schema %q", known, tables)
	}
}

// TestTablesInForeignKeyOrder checks that sqlstore.Tables lists a table before the tables
// that it references, so that Clear violates no foreign key.
func TestTablesInForeignKeyOrder(t *testing.T) {
	tables := sqlstore.Tables()
	for _, key := range foreignKeys(t, openStore(t, newPath(t), Options{})) {
		if key.onDelete != "CASCADE" && slices.Index(tables, key.table) >= slices.Index(tables, key.refersTo) {
			t.Errorf("%s references %s and comes after it in sqlstore.Tables()", key.table, key.refersTo)
		}
	}
}

// TestFillCoversEveryTable checks that storetest.Fill adds a row to every table, because
// other tests rely on a store without empty tables.
func TestFillCoversEveryTable(t *testing.T) {
	s := openStore(t, newPath(t), Options{blockRows: 1})
	storetest.Fill(t, s)
	err := s.engine.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		for _, table := range sqlstore.Tables() {
			rows, err := q.QueryContext(ctx, `SELECT 1 FROM `+table)
			if err != nil {
				return err
			}
			if !rows.Next() {
				t.Errorf("%s is empty; add a row for it to full in package storetest", table)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
