package sqlite

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// update is a caller's update in the writer's queue.
type update struct {
	*sqlstore.Turn[*session]
	wrote bool // whether the function has written; set by the caller
}

func newUpdate() *update { return &update{Turn: sqlstore.NewTurn[*session]()} }

// await runs fn in a transaction when the writer has reached the update, and waits for the
// commit.
func (u *update) await(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return u.Await(ctx, func(ctx context.Context, s *session) error {
		t := &transaction{session: s}
		err := fn(ctx, t)
		if err == nil {
			err = t.failed
		}
		u.wrote = t.wrote
		return err
	})
}
