package postgres

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// turn is a caller's update in the queue of its account.
type turn struct {
	*sqlstore.Turn[*updating]
	// careful means that it has run before.
	careful bool
}

func newTurn() *turn { return &turn{Turn: sqlstore.NewTurn[*updating]()} }

// await runs fn when it is its turn, and waits for the commit.
func (u *turn) await(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return u.Await(ctx, func(ctx context.Context, tx *updating) error {
		err := fn(ctx, tx)
		if len(tx.deferred) > 0 {
			tx.flush() // after an error too: its cause may be that one of them changes nothing
		}
		if tx.failed != nil && (err == nil || retryable(tx.failed, tx.conn)) {
			err = tx.failed
		}
		return tx.explain(err)
	})
}
