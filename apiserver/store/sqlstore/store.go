package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Store is a store.Store in an engine's database, which has the current schema.
type Store struct {
	engine  Engine
	dialect Dialect
}

var _ store.Store = (*Store)(nil)

// New returns the store in an engine's database.
func New(e Engine, d Dialect) *Store {
	return &Store{engine: e, dialect: d}
}

func (s *Store) reader(ctx context.Context, q Querier) *reader {
	return &reader{ctx: ctx, q: q, dialect: s.dialect}
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.engine.View(ctx, func(ctx context.Context, q Querier) error {
		return fn(s.reader(ctx, q))
	})
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.engine.Update(ctx, func(ctx context.Context, q Querier) error {
		reader := *s.reader(ctx, q)
		reader.locker, _ = q.(Locker)
		reader.memo = newMemo()
		return fn(&tx{reader: reader})
	})
}

// Ping implements store.Store. It reads a table, because an engine may run other
// statements without access to the database.
func (s *Store) Ping(ctx context.Context) error {
	return s.engine.View(ctx, func(ctx context.Context, q Querier) error {
		_, err := column[string](s.reader(ctx, q), `SELECT id FROM accounts LIMIT 1`)
		return err
	})
}

// Close implements store.Store.
func (s *Store) Close() error { return s.engine.Close() }

// reader is a store.Reader. It has the context of its transaction, which it does not
// outlive.
type reader struct {
	ctx     context.Context
	q       Querier
	dialect Dialect
	locker  Locker // nil unless it is an update that runs at the same time as others
	memo    *memo  // nil unless it is an update
	// unpaidBefore is set by HideUnpaid.
	unpaidBefore time.Time
}

// tx is a store.Tx.
type tx struct {
	reader
	// observer is set by Observe.
	observer func(store.Change)
}

func (t *tx) Observe(fn func(store.Change)) { t.observer = fn }

// list identifies the objects among which creation times ascend.
type list struct {
	table, accountID string
}

// creationTime returns the creation time of a new object: the wanted one, or just
// after the newest of its list. The transaction reads that once, because no other
// creates objects in the account meanwhile. created reports that the object was created.
func (t *tx) creationTime(table, accountID string, wanted time.Time) (time.Time, error) {
	if table == accountsTable {
		t.lockAccounts()
	} else {
		t.lockAccount(accountID)
	}
	l := list{table, accountID}
	newest, known := t.memo.newest[l]
	if !known {
		var err error
		if newest, err = t.newestOf(l); err != nil {
			return time.Time{}, err
		}
		t.memo.newest[l] = newest
	}
	return time.UnixMicro(max(wanted.UnixMicro(), newest+1)).UTC(), nil
}

// created notes the creation time of a new object.
func (t *tx) created(table, accountID string, at time.Time) {
	t.memo.newest[list{table, accountID}] = at.UnixMicro()
}

func (t *tx) newestOf(l list) (int64, error) {
	w := t.inAllAccounts().equal(`t.account_id`, l.accountID)
	newest, err := column[int64](&t.reader, `SELECT t.created_at FROM `+l.table+` t`+w.text+` ORDER BY t.created_at DESC LIMIT 1`, w.args...)
	if len(newest) == 0 || err != nil {
		return 0, err
	}
	return newest[0], nil
}

// Tables returns the tables that Clear empties, each before those to which it refers.
func Tables() []string {
	return []string{
		dnsRecords.name, "addresses", mailboxes.name, "domain_tags", domains.name,
		"dedicated_ip_claims", dedicatedIPs.name, dedicatedIPOptions.name,
		mailQueue.name, tokenBuckets.name, forwardingRules.name, masterPasswords.name, authorizations.name, serviceAccounts.name,
		workspaces.name, feedback.name, accounts.name,
		auditEntries.name, idempotencyRecords.name,
	}
}

func (t *tx) Clear() error {
	deleted, err := t.Accounts()
	if err != nil {
		return err
	}
	t.memo.clear()
	for _, table := range Tables() {
		if _, err := t.exec(`DELETE FROM ` + table); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	for i := range deleted {
		report(t, &deleted[i], nil)
	}
	return nil
}
