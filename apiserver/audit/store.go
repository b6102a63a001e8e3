package audit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// ErrUnattributed undoes a transaction of which the log could not say what it
// does.
var ErrUnattributed = errors.New("a change without an origin for the audit log: outside of a request, a transaction must attribute what it changes")

// NewStore returns inner with an audit log of all that its Updates change.
// originOf tells where the changes of a context's request come from, and is
// asked when they are made. They are made at the arrival of the request, and
// otherwise at the time that now returns.
func NewStore(inner store.Store, now func() time.Time, originOf func(context.Context) Origin) store.Store {
	return auditedStore{Store: inner, now: now, originOf: originOf}
}

type auditedStore struct {
	store.Store
	now      func() time.Time
	originOf func(context.Context) Origin
}

// Update implements store.Store.
func (s auditedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		t := &auditedTx{Reader: tx, IdempotencyWriter: tx, MailWriter: tx, tx: tx}
		if err := fn(t); err != nil {
			return err
		}
		if t.failed != nil || len(t.entries) == 0 {
			return t.failed
		}
		return t.log(s.at(ctx), t.origin(s.originOf(ctx)))
	})
}

// at is when a change is made: all that a request does happens at its arrival.
func (s auditedStore) at(ctx context.Context) time.Time {
	if arrival := api.Arrival(ctx); !arrival.IsZero() {
		return arrival
	}
	return s.now()
}

// origin is where the transaction's changes come from, with what the context
// says of that.
func (t *auditedTx) origin(o Origin) Origin {
	if a := t.attributed; a.Operation != "" {
		o.Operation, o.Fields, o.Subject = a.Operation, a.Fields, cmp.Or(o.Subject, a.Subject)
	}
	return o
}

// log writes an entry for each account that the transaction has changed.
func (t *auditedTx) log(at time.Time, from Origin) error {
	if from.Operation == "" {
		return ErrUnattributed
	}
	for _, e := range t.entries {
		for i := range e.Changes {
			if e.Changes[i].Action == store.AuditUpdated && e.Changes[i].Fields == nil {
				e.Changes[i].Fields = from.Fields
			}
		}
		e.CreatedAt, e.Operation, e.Subject = at, from.Operation, from.Subject
		e.RequestID, e.RemoteAddress = from.RequestID, from.RemoteAddress
		if err := t.tx.AddAuditEntry(e); err != nil {
			return err
		}
	}
	return nil
}

// note adds a change to the entry of its account. The fields of an update are by
// default those that the request sets.
func (t *auditedTx) note(action string, o object, fields ...string) {
	change := store.AuditChange{Action: action, Type: o.typ, ID: o.id, Name: o.name, Fields: fields}
	for _, e := range slices.Backward(t.entries) { // those of a fixture come one after another
		if e.AccountID == o.accountID {
			e.Changes = append(e.Changes, change)
			return
		}
	}
	t.entries = append(t.entries, &store.AuditEntry{AccountID: o.accountID, Changes: []store.AuditChange{change}})
}
