package postgres

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// turn is a caller's update in the queue of its account.
type turn struct{ *sqlstore.Turn[*updating] }

func newTurn() *turn { return &turn{sqlstore.NewTurn[*updating]()} }

// await runs fn when it is its turn, and waits for the commit.
func (u *turn) await(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return u.Await(ctx, func(ctx context.Context, tx *updating) error {
		err := fn(ctx, tx)
		if tx.failed != nil && (err == nil || retryable(tx.failed, tx.conn)) {
			err = tx.failed
		}
		return tx.explain(err)
	})
}
