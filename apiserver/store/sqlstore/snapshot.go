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
	var tables []copiedTable
	var rows [][][]any // by table
	if err := s.engine.View(ctx, func(ctx context.Context, q Querier) (err error) {
		if tables, err = s.tables(ctx, q); err != nil {
			return err
		}
		rows = make([][][]any, len(tables))
		for i, t := range tables {
			if _, err := t.each(ctx, q, func(chunk [][]any) error {
				rows[i] = append(rows[i], chunk...)
				return nil
			}); err != nil {
				return fmt.Errorf("read %s: %w", t.name, err)
			}
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
			for i, t := range tables {
				for chunk := range slices.Chunk(rows[i], copyChunk) {
					if err := t.insert(ctx, q, chunk); err != nil {
						return fmt.Errorf("restore %s: %w", t.name, err)
					}
				}
			}
			return s.continueIDs(ctx, q)
		})
	}, nil
}
