package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var _ store.Snapshotter = (*Store)(nil)

// Snapshot implements store.Snapshotter. The rows are in memory.
func (s *Store) Snapshot(ctx context.Context) (restore func(context.Context) error, err error) {
	type content struct {
		copiedTable
		rows [][]any
	}
	var tables []content
	if err := s.engine.View(ctx, func(ctx context.Context, q Querier) error {
		tables = nil
		for _, name := range slices.Backward(Tables()) { // each after those to which it refers
			columns, err := columnsIn(ctx, q, s.dialect, name)
			if err != nil {
				return err
			}
			t := content{copiedTable: copiedTable{name: name, columns: columns}}
			if _, err := t.each(ctx, q, func(rows [][]any) error {
				t.rows = append(t.rows, rows...)
				return nil
			}); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			tables = append(tables, t)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return s.engine.Update(ctx, func(ctx context.Context, q Querier) error {
			for _, name := range Tables() {
				if _, err := q.ExecContext(ctx, `DELETE FROM `+name); err != nil {
					return fmt.Errorf("clear %s: %w", name, err)
				}
			}
			for _, t := range tables {
				if err := t.insert(ctx, q, s.dialect, t.rows); err != nil {
					return fmt.Errorf("restore %s: %w", t.name, err)
				}
			}
			return nil
		})
	}, nil
}

// insert inserts rows of the table into an empty one.
func (t copiedTable) insert(ctx context.Context, q Querier, d Dialect, all [][]any) error {
	for rows := range slices.Chunk(all, copyChunk) {
		args := make([]any, 0, len(rows)*len(t.columns))
		for _, row := range rows {
			for i, v := range row {
				args = append(args, t.columns[i].argument(v))
			}
		}
		if _, err := q.ExecContext(ctx, insertionOf(t.name, t.names(), len(rows)), args...); err != nil {
			return err
		}
	}
	query := d.ContinueIDs(t.name)
	if query == "" {
		return nil
	}
	_, err := column[int64](&reader{ctx: ctx, q: q}, query)
	return err
}
