package postgres

import (
	"context"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// note records whether an update that writes could be kept, and returns its error.
func (e *engine) note(err error) error {
	if err == nil || errors.Is(err, store.ErrUnavailable) {
		e.failing.Store(err != nil)
	}
	return err
}

// Ping implements store.Store. A standby can be read but not written. After an update that
// could not be kept, for instance because the disk is full, it tries one that changes
// nothing: nobody sends updates to a store that is not ready.
func (s *Store) Ping(ctx context.Context) error {
	readOnly := false
	if err := s.engine.View(ctx, func(ctx context.Context, q sqlstore.Querier) error {
		return scanRow(ctx, q, `SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean`, nil, &readOnly)
	}); err != nil {
		return err
	}
	if readOnly {
		return unavailable(errors.New("the server is a standby or read-only; name the primary, or add target_session_attrs=read-write to a URL with several hosts"))
	}
	if s.engine.failing.Load() {
		return s.engine.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error {
			_, err := q.ExecContext(ctx, `UPDATE mailhost_schema SET version = version WHERE id = $1`, 1)
			return err
		})
	}
	return s.Store.Ping(ctx)
}
