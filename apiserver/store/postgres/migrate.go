package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// migrate brings the schema up to date. One process at a time migrates: replicas that start at the
// same time wait for it and find nothing to do.
func (e *engine) migrate(ctx context.Context) (err error) {
	t, err := e.begin(ctx, `BEGIN`, "", acquireTimeout)
	if err != nil {
		return err
	}
	defer t.release()
	if done, err := sqlstore.UpToDate(ctx, t, e.dialect, e.opts.ReadOnly); done || err != nil {
		return errors.Join(err, t.exec(`ROLLBACK`))
	}
	t.patience = migrationTimeout
	script := fmt.Sprintf(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
		SELECT pg_advisory_xact_lock(%d)`, advisoryKey("schema"))
	if err := t.exec(script); err != nil {
		return err
	}
	if err := sqlstore.Migrate(ctx, t, e.dialect); err != nil {
		return err // release closes the connection, which rolls back
	}
	return t.commit()
}
