package postgres

import (
	"context"
	"hash/fnv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

var _ sqlstore.Locker = (*transaction)(nil)

// LockAccount implements sqlstore.Locker. A missing account has no row to lock, so LockAccount
// locks the list of accounts, and then looks again whether another update created the account.
func (t *transaction) LockAccount(ctx context.Context, id string) bool {
	if t.locked[id] {
		return false
	}
	const lock = `SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE`
	if n, err := t.run(ctx, lock, id); n == 0 && err == nil {
		t.LockAccounts(ctx)
		_, _ = t.run(ctx, lock, id) // an error is in failed
	}
	t.locked[id] = t.failed == nil
	return t.failed == nil
}

// LockAccounts implements sqlstore.Locker.
func (t *transaction) LockAccounts(ctx context.Context) {
	if t.listLocked {
		return
	}
	_, _ = t.run(ctx, `SELECT pg_advisory_xact_lock($1)`, advisoryKey("accounts")) // an error is in failed
	t.listLocked = t.failed == nil
}

// advisoryKey returns the number of the lock with a name. Two names with the same number would
// only wait for each other.
func advisoryKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("mailhost " + name))
	return int64(h.Sum64())
}
