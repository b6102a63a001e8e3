package sqlstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Store is a store.Store in an engine's database with the current schema.
type Store struct {
	engine
	dialect *Dialect
}

type engine = Engine

var _ store.Store = (*Store)(nil)

// New returns the store in an engine's database.
func New(e Engine, d *Dialect) *Store { return &Store{engine: e, dialect: d} }

// Wrap returns the store with an engine around its own, for tests that inject errors.
func (s *Store) Wrap(around func(Engine) Engine) *Store { return New(around(s.engine), s.dialect) }

// View implements store.Store.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.engine.View(ctx, func(ctx context.Context, q Querier) error {
		return fn(&reader{ctx: ctx, q: q, dialect: s.dialect})
	})
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.engine.Update(ctx, func(ctx context.Context, q Querier) error {
		locker, _ := q.(Locker)
		return fn(&tx{reader: reader{ctx: ctx, q: q, dialect: s.dialect, locker: locker}})
	})
}

// Probe returns a *store.SchemaError if this program can't work with the schema any longer, and then reads a
// table: an engine may run a statement without a table even if the database is unavailable.
func (d *Dialect) Probe(ctx context.Context, q Querier) error {
	if err := d.checkServable(ctx, q); err != nil {
		return err
	}
	_, err := (&reader{ctx: ctx, q: q}).AuthorizationVersion()
	if errors.Is(err, store.ErrNotFound) {
		err = &store.SchemaError{Err: errors.New("the database's table authorization_version lacks its row; run in the database `INSERT INTO authorization_version VALUES (1, 1)`, or restore a backup that you trust")}
	}
	return err
}

// ScanRow scans the first row of an engine's own query, or returns store.ErrNotFound.
func ScanRow(ctx context.Context, q Querier, query string, args []any, dest ...any) error {
	_, err := only(scan(&reader{ctx: ctx, q: q}, query, args, func(*struct{}) []any { return dest }))
	return err
}

// reader is the store.Reader of one transaction.
type reader struct {
	ctx     context.Context
	q       Querier
	dialect *Dialect
	locker  Locker // nil in a view, and in an engine that runs one update at a time
	// unpaidBefore is set by HideUnpaid.
	unpaidBefore time.Time
}

type tx struct {
	reader
	// observer is set by Observe.
	observer func(store.Change)
}

func (t *tx) Observe(fn func(store.Change)) { t.observer = fn }

// otherTables are the tables that Clear empties although they contain no objects of accounts, nor
// parts of objects.
var otherTables = []string{"token_buckets", auditEntries.name, idempotencyRecords.name}

// Tables returns the tables that Clear empties, each before the tables that it refers to.
func Tables() (names []string) {
	for _, k := range slices.Backward(kinds) {
		names = append(append(names, k.parts...), k.name)
	}
	return append(names, otherTables...)
}

func (t *tx) Clear() error {
	deleted, err := t.Accounts()
	if err != nil {
		return err
	}
	for _, table := range Tables() {
		if err := t.exec(`DELETE FROM ` + table); err != nil {
			return err
		}
	}
	for i := range deleted {
		report(t, &deleted[i], nil)
	}
	return nil
}
