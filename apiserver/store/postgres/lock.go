package postgres

import (
	"context"
	"hash/fnv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// updating is the sqlstore.Querier of an update.
type updating struct {
	transaction
	// locked holds the accounts and names locked by this update.
	locked map[string]bool
}

var _ sqlstore.Locker = (*updating)(nil)

// LockAccount implements sqlstore.Locker. An account that does not exist has no row, so
// that the list of accounts is locked until it is known whether somebody else creates it.
func (u *updating) LockAccount(ctx context.Context, id string) bool {
	key := accountLock(id)
	if u.locked[key] {
		return false
	}
	const lock = `SELECT 1::bigint FROM accounts WHERE id = $1 FOR NO KEY UPDATE`
	if u.run(ctx, lock, id) == 0 {
		u.Lock(ctx, "accounts")
		u.run(ctx, lock, id)
	}
	u.locked[key] = u.failed == nil
	return u.failed == nil
}

func accountLock(id string) string { return "account " + id }

// Lock implements sqlstore.Locker.
func (u *updating) Lock(ctx context.Context, name string) {
	if u.locked[name] {
		return
	}
	u.run(ctx, `SELECT 1::bigint FROM (SELECT pg_advisory_xact_lock($1)) l`, advisoryKey(name))
	u.locked[name] = u.failed == nil
}

// run runs a query and returns how many rows it has. An error is kept in u.failed.
func (u *updating) run(ctx context.Context, query string, args ...any) (n int) {
	rows, err := u.QueryContext(ctx, query, args...)
	if err != nil {
		return 0
	}
	for rows.Next() {
		n++
	}
	_ = rows.Close() // an error is in failed
	return n
}

// advisoryKey returns the number of a lock. Two names with the same number would only wait
// for each other.
func advisoryKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("mailhost " + name))
	return int64(h.Sum64())
}
