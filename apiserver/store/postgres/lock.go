package postgres

import (
	"context"
	"hash/fnv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// updating is the sqlstore.Querier of an update.
type updating struct {
	transaction
	// locked holds the accounts that are locked by this update, and accounts for their list.
	locked map[string]bool
}

// accounts is the name of the lock of the list of accounts.
const accounts = "accounts"

var _ sqlstore.Locker = (*updating)(nil)

// LockAccount implements sqlstore.Locker. An account that does not exist has no row, so
// that the list of accounts is locked until it is known whether somebody else creates it.
func (u *updating) LockAccount(ctx context.Context, id string) bool {
	key := accountLock(id)
	if u.locked[key] {
		return false
	}
	const lock = `SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE`
	if n, err := u.run(ctx, lock, id); n == 0 && err == nil {
		u.LockAccounts(ctx)
		_, _ = u.run(ctx, lock, id) // an error is in failed
	}
	u.locked[key] = u.failed == nil
	return u.failed == nil
}

func accountLock(id string) string { return "account " + id }

// LockAccounts implements sqlstore.Locker.
func (u *updating) LockAccounts(ctx context.Context) {
	if u.locked[accounts] {
		return
	}
	_, _ = u.run(ctx, `SELECT pg_advisory_xact_lock($1)`, advisoryKey(accounts)) // an error is in failed
	u.locked[accounts] = u.failed == nil
}

// advisoryKey returns the number of a lock. Two names with the same number would only wait
// for each other.
func advisoryKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("mailhost " + name))
	return int64(h.Sum64())
}
