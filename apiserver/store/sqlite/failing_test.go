package sqlite

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/storetest"
)

var errInjected = errors.New("an injected error")

// failing is a Querier whose nth statement fails: it does not run, or its rows end with an error.
type failing struct {
	sqlstore.Querier
	n, ran int
	inRows bool
	failed string // the statement
}

func (f *failing) fails(query string) bool {
	f.ran++
	if f.ran == f.n {
		f.failed = query
	}
	return f.ran == f.n
}

func (f *failing) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	if f.fails(query) {
		return 0, errInjected
	}
	return f.Querier.ExecContext(ctx, query, args...)
}

func (f *failing) ExecLater(ctx context.Context, query string, args ...any) error {
	_, err := f.ExecContext(ctx, query, args...)
	return err
}

func (f *failing) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if fails := f.fails(query); fails && !f.inRows {
		return nil, errInjected
	} else if fails {
		return failedRows{}, nil
	}
	return f.Querier.QueryContext(ctx, query, args...)
}

type failedRows struct{ sqlstore.Rows }

func (failedRows) Next() bool   { return false }
func (failedRows) Err() error   { return errInjected }
func (failedRows) Close() error { return nil }

// failingStore runs each update and each view first with each of its statements failing, and
// undoes that: the function must return the error of the statement.
type failingStore struct {
	*Store
	t *testing.T
}

// maxFailing bounds the statements of a function that fail.
const maxFailing = 20

var errUndo = errors.New("undo")

// try calls run with the transactions that fail, until none of their statements does.
func (s failingStore) try(ctx context.Context, run func(context.Context, *sqlstore.Store) error) {
	for n := 1; n <= maxFailing; n++ {
		for _, inRows := range []bool{false, true} {
			var f *failing
			var result error
			if err := s.engine.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error {
				f = &failing{Querier: q, n: n, inRows: inRows}
				result = run(ctx, sqlstore.New(within{f}, &dialect))
				return errUndo
			}); err != errUndo {
				s.t.Fatal(err)
			}
			if f.ran < n {
				return
			}
			if !errors.Is(result, errInjected) {
				s.t.Errorf("the error of statement %d became %v: %s", n, result, f.failed)
			}
		}
	}
}

func (s failingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	s.try(ctx, func(ctx context.Context, failing *sqlstore.Store) error { return failing.Update(ctx, fn) })
	return s.Store.Update(ctx, fn)
}

func (s failingStore) View(ctx context.Context, fn func(store.Reader) error) error {
	s.try(ctx, func(ctx context.Context, failing *sqlstore.Store) error { return failing.View(ctx, fn) })
	return s.Store.View(ctx, fn)
}

// TestDatabaseErrors checks that package sqlstore loses no error of a statement.
func TestDatabaseErrors(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return failingStore{openStore(t, Memory, Options{}), t} },
		"Account", "Workspace", "ServiceAccount", "ServiceAccountUse", "Authorization", "GrantsOf", "MasterPassword", "Forwarding", "ForwardingLink",
		"Mailbox", "MailboxNames", "AddressesOfADeletedDomain", "ForwardingReleased", "Domain", "DomainReads", "DNSRecord", "DNSRecordReplaced",
		"DedicatedIP", "DedicatedIPOption", "DedicatedIPClaims", "Idempotency", "MailQueue", "TokenBuckets", "PublicURL", "Feedback", "Audit", "AuditFilter", "AuthorizationVersion", "MailQueueClaims",
		"Clear", "DeleteAccount", "CreateMailboxes")
}
