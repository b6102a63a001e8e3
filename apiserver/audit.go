package apiserver

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The audit log's names for what changes an account beside the operations of
// the API.
const (
	AuditEnsureAccount     = "ensure-account"
	AuditInitAccount       = "init-account"
	AuditIssueOwnerToken   = "issue-owner-token"
	AuditLoadFixture       = "load-fixture"
	AuditConfirmForwarding = "confirm-forwarding"
	AuditSettlePayment     = "settle-payment"
	AuditReset             = "reset"
)

// AuditOperations returns every name that an audit entry can have for what was
// done, those of the API's operations first.
func AuditOperations() []string {
	var names []string
	for _, spec := range api.Specs() {
		if spec.Changes() {
			names = append(names, spec.ID)
		}
	}
	return append(names, AuditEnsureAccount, AuditInitAccount, AuditIssueOwnerToken, AuditLoadFixture,
		AuditConfirmForwarding, AuditSettlePayment, AuditReset)
}

// The types of an audit entry's subject beside those of a grant's.
const (
	subjectOperator     = "operator"      // has the database in their hands
	subjectControlPlane = "control_plane" // whoever reaches it
	subjectRecipient    = "recipient"     // of a message, known by the address
)

var (
	operator     = store.AuditSubject{Type: subjectOperator}
	controlPlane = store.AuditSubject{Type: subjectControlPlane}
)

func recipient(address string) store.AuditSubject {
	return store.AuditSubject{Type: subjectRecipient, ID: address}
}

// auditedStore is the store as the service uses it. All that an Update changes
// goes into the audit log in the same transaction, so that there is no change
// without its entry and no entry without its change. No operation has to do
// anything for it.
type auditedStore struct {
	store.Store
	now func() time.Time
}

// Update implements store.Store.
func (s auditedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		t := &auditedTx{Reader: tx, IdempotencyWriter: tx, tx: tx, origin: originOf(ctx)}
		if err := fn(t); err != nil {
			return err
		}
		return t.log(s.at(ctx))
	})
}

// at is when a change is made: all that a request does happens at its arrival.
func (s auditedStore) at(ctx context.Context) time.Time {
	if arrival := api.Arrival(ctx); !arrival.IsZero() {
		return arrival
	}
	return s.now()
}

// origin is where the changes of a transaction come from. Its operation is empty
// where that is not known.
type origin struct {
	operation                string
	subject                  store.AuditSubject
	requestID, remoteAddress string
	// fields returns those that are set by an update.
	fields func() []string
}

// originOf returns the origin of what a context's request changes.
func originOf(ctx context.Context) origin {
	p, who := progressOf(ctx), callerFrom(ctx)
	o := origin{requestID: p.ID, remoteAddress: p.remoteAddress, fields: func() []string { return fieldsSet(p.asked) }}
	if len(who.subjects) > 0 {
		o.operation = p.Operation.ID
		o.subject = store.AuditSubject{Type: who.subjects[0].Type, ID: who.subjects[0].ID, Name: cmp.Or(who.email, who.name)}
	}
	return o
}

// attribute says who makes the changes of a transaction, and how, where no
// operation of the API does; fields are those that it sets of what it updates.
func attribute(tx store.Tx, who store.AuditSubject, operation string, fields ...string) {
	o := &tx.(*auditedTx).origin // of every transaction of the service
	o.subject, o.operation, o.fields = who, operation, func() []string { return fields }
}

// remoteHost returns the address that a connection comes from, without the
// port; nothing in process.
func remoteHost(remoteAddr string) string {
	peer, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return ""
	}
	return peer.Addr().Unmap().String()
}

// fieldsSet returns the names of the fields that a request's body sets.
func fieldsSet(request any) (names []string) {
	if request == nil {
		return nil
	}
	body := reflect.Indirect(reflect.ValueOf(request)).FieldByName("Body")
	if !body.IsValid() {
		return nil
	}
	for _, field := range reflect.VisibleFields(body.Type()) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		unset := strings.Contains(options, "omit") && body.FieldByIndex(field.Index).IsZero()
		if name != "" && !unset {
			names = append(names, name)
		}
	}
	return names
}

var errUnattributed = errors.New("a change without an origin for the audit log: outside of a request, a transaction must attribute what it changes")

// log writes an entry for each account that the transaction has changed.
func (t *auditedTx) log(at time.Time) error {
	if t.failed != nil || len(t.entries) == 0 {
		return t.failed
	}
	if t.origin.operation == "" {
		return errUnattributed
	}
	fields := t.origin.fields()
	for _, e := range t.entries {
		for i := range e.Changes {
			if e.Changes[i].Action == store.AuditUpdated {
				e.Changes[i].Fields = fields
			}
		}
		e.CreatedAt, e.Operation, e.Subject = at, t.origin.operation, t.origin.subject
		e.RequestID, e.RemoteAddress = t.origin.requestID, t.origin.remoteAddress
		if err := t.tx.AddAuditEntry(e); err != nil {
			return err
		}
	}
	return nil
}

// note adds a change to the entry of its account.
func (t *auditedTx) note(action string, o object) {
	change := store.AuditChange{Action: action, Type: o.typ, ID: o.id, Name: o.name}
	for _, e := range t.entries { // one, but for a fixture
		if e.AccountID == o.accountID {
			e.Changes = append(e.Changes, change)
			return
		}
	}
	t.entries = append(t.entries, &store.AuditEntry{AccountID: o.accountID, Changes: []store.AuditChange{change}})
}
