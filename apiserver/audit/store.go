package audit

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// ErrUnattributed rolls back a transaction if a log entry would contain no operation.
var ErrUnattributed = errors.New("a change without an origin for the audit log: outside of a request, a transaction must attribute what it changes")

// NewStore returns inner with an audit log of its Updates. originOf returns the origin of a
// context. The time of an entry is the request's arrival, or else now.
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
		t := &auditedTx{Tx: tx, account: store.AccountOf(ctx), request: s.originOf(ctx)}
		tx.Observe(t.observe)
		if err := fn(t); err != nil {
			return err
		}
		arrival := t.request.Arrival
		if arrival.IsZero() {
			arrival = s.now()
		}
		return t.log(arrival)
	})
}

// auditedTx collects the changes of a transaction.
type auditedTx struct {
	store.Tx
	account    string    // of the request, or ""
	request    Origin    // of the context
	attributed Origin    // set by Attribute
	own        Operation // set while AsSystem runs
	// entries contains one entry per account and operation. An empty operation means the
	// transaction's.
	entries []*store.AuditEntry
}

// observe adds a change to the entry of its account, unless only the update time differs.
func (t *auditedTx) observe(c store.Change) {
	action, v := store.AuditUpdated, c.After
	switch {
	case c.Before == nil:
		action = store.AuditCreated
	case c.After == nil:
		action, v = store.AuditDeleted, c.Before
	case sameButForUpdatedAt(c.Before, c.After):
		return
	case !isRevoked(c.Before) && isRevoked(c.After):
		action = store.AuditRevoked
	}
	o := v.Identity()
	change := store.AuditChange{Action: action, Type: o.Type, ID: o.ID, Name: o.Name, Fields: c.Fields}
	for _, e := range slices.Backward(t.entries) { // a fixture changes one account after another
		if e.AccountID == o.AccountID && e.Operation == string(t.own) {
			e.Changes = append(e.Changes, change)
			return
		}
	}
	t.entries = append(t.entries, &store.AuditEntry{AccountID: o.AccountID, Operation: string(t.own), Changes: []store.AuditChange{change}})
}

func isRevoked(v store.Object) bool {
	at := reflect.ValueOf(v).FieldByName("RevokedAt")
	return at.IsValid() && !at.IsZero()
}

func sameButForUpdatedAt(before, after store.Object) bool {
	a, b := reflect.New(reflect.TypeOf(before)).Elem(), reflect.ValueOf(after)
	a.Set(reflect.ValueOf(before))
	if at := a.FieldByName("UpdatedAt"); at.IsValid() {
		at.Set(b.FieldByName("UpdatedAt"))
	}
	return reflect.DeepEqual(a.Interface(), after)
}

// Create implements store.Tx. It sets the creator of a service account and of a grant.
func (t *auditedTx) Create(o store.Object) error {
	switch o := o.(type) {
	case *store.ServiceAccount:
		o.CreatedBy = t.from(o.AccountID, string(t.own)).Subject
	case *store.Authorization:
		o.CreatedBy = t.from(o.AccountID, string(t.own)).Subject
	}
	return t.Tx.Create(o)
}

// origin returns the attributed origin, completed by the context's origin.
func (t *auditedTx) origin() Origin {
	o := t.request
	if a := t.attributed; a.Operation != "" {
		o.Operation, o.Fields, o.Subject = a.Operation, a.Fields, cmp.Or(o.Subject, a.Subject)
	}
	return o
}

// from returns the origin of a change in an account. own is the operation of AsSystem, or "".
func (t *auditedTx) from(accountID, own string) Origin {
	o := t.origin()
	switch {
	case own != "":
		return Origin{Subject: System, Operation: own}
	case t.account != "" && accountID != t.account: // the subject in one account is not revealed to another
		return Origin{Subject: System, Operation: o.Operation}
	}
	return o
}

// log writes the entries, with the arrival of the transaction's request.
func (t *auditedTx) log(arrival time.Time) error {
	for _, e := range t.entries {
		from := t.from(e.AccountID, e.Operation)
		if from.Operation == "" {
			return ErrUnattributed
		}
		for i := range e.Changes {
			if e.Changes[i].Action == store.AuditUpdated && e.Changes[i].Fields == nil {
				e.Changes[i].Fields = from.Fields
			}
		}
		e.CreatedAt, e.Operation, e.Subject, e.SubjectDetails = arrival, from.Operation, from.Subject, from.SubjectDetails
		e.RequestID, e.RemoteAddress = from.RequestID, from.RemoteAddress
		if err := t.AddAuditEntry(e); err != nil {
			return err
		}
	}
	return nil
}
