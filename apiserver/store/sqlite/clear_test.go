package sqlite

import (
	"context"
	"slices"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// TestClearKnowsEveryTable keeps a new table from being forgotten.
func TestClearKnowsEveryTable(t *testing.T) {
	s := openStore(t, newPath(t), Options{})
	var tables []string
	err := s.engine.View(t.Context(), func(ctx context.Context, q sqlstore.Querier) error {
		rows, err := q.QueryContext(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
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
