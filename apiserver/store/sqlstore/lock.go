package sqlstore

// An update has to be alone on each account of which it reads or writes anything. In an
// engine with a Locker it locks an account when it first names it. What it finds without
// naming an account is read again if the account was not locked before.

// lockAccount locks an account, and reports whether the update had not locked it before.
func (r *reader) lockAccount(id string) bool {
	return r.locker != nil && id != "" && r.locker.LockAccount(r.ctx, id)
}

// lockAccounts locks the list of accounts.
func (r *reader) lockAccounts() { r.lock("accounts") }

// lock locks what a name stands for.
func (r *reader) lock(name string) {
	if r.locker != nil {
		r.locker.Lock(r.ctx, name)
	}
}

// lockOwners locks the accounts of some objects, and reports whether one was not locked before.
func lockOwners[T any](r *reader, tbl *table[T], items []T) (outdated bool) {
	owner := tbl.account
	if tbl.name == accountsTable {
		owner = tbl.id
	}
	if r.locker == nil || tbl.shared || owner < 0 {
		return false
	}
	for i := range items {
		if r.lockAccount(*tbl.fields(&items[i])[owner].(*string)) {
			outdated = true
		}
	}
	return outdated
}
