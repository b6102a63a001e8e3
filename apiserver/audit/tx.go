package audit

import (
	"math"
	"reflect"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// auditedTx notes what a transaction changes. It embeds only what reads, and
// what changes nothing of an account: a method that is added to store.Tx does
// not compile until it is said here what it changes.
type auditedTx struct {
	store.Reader
	store.IdempotencyWriter
	store.MailWriter
	tx         store.Tx
	attributed Origin              // by Attribute
	entries    []*store.AuditEntry // by account
	zones      map[string]string   // names of domains by their ids
	// failed is why an object could not be described.
	failed error
}

var _ store.Tx = (*auditedTx)(nil)

// created creates an object and notes it.
func created[T any](t *auditedTx, v *T, create func(*T) error, describe func(T) object) error {
	err := create(v)
	if err == nil {
		t.note(store.AuditCreated, describe(*v))
	}
	return err
}

// changed changes an object and notes it, unless it is the same as before but
// for the time of its update.
func changed[T any](t *auditedTx, action string, read func() (T, error), write func() error, describe func(T) object) error {
	before, err := read()
	if err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	after, err := read()
	if err == nil && !reflect.DeepEqual(undated(before), undated(after)) {
		t.note(action, describe(after))
	}
	return err
}

func undated[T any](v T) T {
	if at := reflect.ValueOf(&v).Elem().FieldByName("UpdatedAt"); at.IsValid() {
		at.SetZero()
	}
	return v
}

// deleted deletes an object and notes it.
func deleted[T any](t *auditedTx, read func() (T, error), del func() error, describe func(T) object) error {
	v, err := read()
	if err != nil {
		return err
	}
	if err = del(); err == nil {
		t.note(store.AuditDeleted, describe(v))
	}
	return err
}

// by reads an object of an account.
func by[ID, T any](read func(accountID string, id ID) (T, error), accountID string, id ID) func() (T, error) {
	return func() (T, error) { return read(accountID, id) }
}

func (t *auditedTx) CreateAccount(a *store.Account) error {
	return created(t, a, t.tx.CreateAccount, describeAccount)
}

func (t *auditedTx) UpdateAccount(a store.Account) error {
	return changed(t, store.AuditUpdated, func() (store.Account, error) { return t.Account(a.ID) },
		func() error { return t.tx.UpdateAccount(a) }, describeAccount)
}

func (t *auditedTx) CreateWorkspace(w *store.Workspace) error {
	return created(t, w, t.tx.CreateWorkspace, describeWorkspace)
}

func (t *auditedTx) CreateServiceAccount(a *store.ServiceAccount) error {
	return created(t, a, t.tx.CreateServiceAccount, describeServiceAccount)
}

func (t *auditedTx) RevokeServiceAccount(accountID, id, byUserID string, at time.Time) error {
	return changed(t, store.AuditRevoked, by(t.ServiceAccount, accountID, id),
		func() error { return t.tx.RevokeServiceAccount(accountID, id, byUserID, at) }, describeServiceAccount)
}

// TouchServiceAccount notes nothing: a use is no change.
func (t *auditedTx) TouchServiceAccount(id string, at time.Time) error {
	return t.tx.TouchServiceAccount(id, at)
}

func (t *auditedTx) CreateAuthorization(a *store.Authorization) error {
	return created(t, a, t.tx.CreateAuthorization, describeAuthorization)
}

func (t *auditedTx) RevokeAuthorization(accountID, id string, at time.Time) error {
	return changed(t, store.AuditRevoked, by(t.Authorization, accountID, id),
		func() error { return t.tx.RevokeAuthorization(accountID, id, at) }, describeAuthorization)
}

func (t *auditedTx) CreateMasterPassword(p *store.MasterPassword) error {
	return created(t, p, t.tx.CreateMasterPassword, describeMasterPassword)
}

func (t *auditedTx) RenameMasterPassword(accountID, id, name string, at time.Time) error {
	return changed(t, store.AuditUpdated, by(t.MasterPassword, accountID, id),
		func() error { return t.tx.RenameMasterPassword(accountID, id, name, at) }, describeMasterPassword)
}

func (t *auditedTx) DeleteMasterPassword(accountID, id string) error {
	return deleted(t, by(t.MasterPassword, accountID, id),
		func() error { return t.tx.DeleteMasterPassword(accountID, id) }, describeMasterPassword)
}

func (t *auditedTx) CreateForwarding(f *store.Forwarding) error {
	return created(t, f, t.tx.CreateForwarding, describeForwarding)
}

func (t *auditedTx) UpdateForwarding(f store.Forwarding) error {
	return changed(t, store.AuditUpdated, by(t.Forwarding, f.AccountID, f.ID),
		func() error { return t.tx.UpdateForwarding(f) }, describeForwarding)
}

func (t *auditedTx) DeleteForwarding(accountID, id string) error {
	return deleted(t, by(t.Forwarding, accountID, id),
		func() error { return t.tx.DeleteForwarding(accountID, id) }, describeForwarding)
}

func (t *auditedTx) CreateMailbox(m *store.Mailbox) error {
	return created(t, m, t.tx.CreateMailbox, describeMailbox)
}

func (t *auditedTx) RenameMailbox(accountID, id, firstName, lastName string, at time.Time) error {
	return changed(t, store.AuditUpdated, by(t.Mailbox, accountID, id),
		func() error { return t.tx.RenameMailbox(accountID, id, firstName, lastName, at) }, describeMailbox)
}

func (t *auditedTx) DeleteMailbox(accountID, id string, at time.Time) (affected store.Affected, err error) {
	err = deleted(t, by(t.Mailbox, accountID, id), func() (err error) {
		affected, err = t.tx.DeleteMailbox(accountID, id, at)
		return err
	}, describeMailbox)
	t.noteAffected(affected)
	return affected, err
}

// noteAffected notes what the deletion of an address has changed.
func (t *auditedTx) noteAffected(affected store.Affected) {
	for _, f := range affected.Forwarding {
		t.note(store.AuditUpdated, describeForwarding(f), "verification_state")
	}
	for _, m := range affected.Mailboxes {
		t.note(store.AuditUpdated, describeMailbox(m), "aliases")
	}
}

func (t *auditedTx) CreateDomain(d *store.Domain) error {
	return created(t, d, t.tx.CreateDomain, describeDomain)
}

func (t *auditedTx) UpdateDomain(d store.Domain) error {
	return changed(t, store.AuditUpdated, by(t.Domain, d.AccountID, d.ID),
		func() error { return t.tx.UpdateDomain(d) }, describeDomain)
}

// DeleteDomain notes what is deleted with the domain, too.
func (t *auditedTx) DeleteDomain(accountID, id string, at time.Time) (affected store.Affected, err error) {
	belongings, err := t.belongings(accountID, id)
	if err != nil {
		return affected, err
	}
	err = deleted(t, by(t.Domain, accountID, id), func() (err error) {
		affected, err = t.tx.DeleteDomain(accountID, id, at)
		return err
	}, describeDomain)
	if err != nil {
		return affected, err
	}
	for _, o := range belongings {
		t.note(store.AuditDeleted, o)
	}
	t.noteAffected(affected)
	return affected, nil
}

// belongings are what a domain takes with it.
func (t *auditedTx) belongings(accountID, domainID string) ([]object, error) {
	all, scope := store.Slice{Limit: math.MaxInt32}, store.ScopedFilter{DomainID: domainID}
	records, _, err := t.DNSRecords(accountID, store.DNSRecordFilter{DomainID: domainID, WithReplaced: true}, all)
	if err != nil {
		return nil, err
	}
	passwords, _, err := t.MasterPasswords(accountID, scope, all)
	if err != nil {
		return nil, err
	}
	rules, _, err := t.ForwardingRules(accountID, store.ForwardingFilter{ScopedFilter: scope}, all)
	if err != nil {
		return nil, err
	}
	var objects []object
	objects = appendDescribed(objects, records, t.describeDNSRecord)
	objects = appendDescribed(objects, passwords, describeMasterPassword)
	return appendDescribed(objects, rules, describeForwarding), nil
}

func appendDescribed[T any](objects []object, items []T, describe func(T) object) []object {
	for _, item := range items {
		objects = append(objects, describe(item))
	}
	return objects
}

func (t *auditedTx) CreateDNSRecord(r *store.DNSRecord) error {
	return created(t, r, t.tx.CreateDNSRecord, t.describeDNSRecord)
}

func (t *auditedTx) UpdateDNSRecord(r store.DNSRecord) error {
	return changed(t, store.AuditUpdated, by(t.DNSRecord, r.AccountID, r.ID),
		func() error { return t.tx.UpdateDNSRecord(r) }, t.describeDNSRecord)
}

func (t *auditedTx) DeleteDNSRecord(accountID string, id int64) error {
	return deleted(t, by(t.DNSRecord, accountID, id),
		func() error { return t.tx.DeleteDNSRecord(accountID, id) }, t.describeDNSRecord)
}

func (t *auditedTx) CreateDedicatedIP(d *store.DedicatedIP) error {
	return created(t, d, t.tx.CreateDedicatedIP, describeDedicatedIP)
}

func (t *auditedTx) DeleteDedicatedIP(accountID, id string) error {
	return deleted(t, by(t.DedicatedIP, accountID, id),
		func() error { return t.tx.DeleteDedicatedIP(accountID, id) }, describeDedicatedIP)
}

func (t *auditedTx) CreateDedicatedIPOption(o *store.DedicatedIPOption) error {
	return created(t, o, t.tx.CreateDedicatedIPOption, describeDedicatedIPOption)
}

func (t *auditedTx) CreateFeedback(f *store.Feedback) error {
	return created(t, f, t.tx.CreateFeedback, describeFeedback)
}

// Clear empties the log too; the first entries of the new one say so.
func (t *auditedTx) Clear() error {
	accounts, err := t.Accounts()
	if err != nil {
		return err
	}
	if err := t.tx.Clear(); err != nil {
		return err
	}
	t.zones = nil
	for _, a := range accounts {
		t.note(store.AuditDeleted, describeAccount(a))
	}
	return nil
}

// AddAuditEntry is for the log itself, which is no object of an account.
func (t *auditedTx) AddAuditEntry(e *store.AuditEntry) error { return t.tx.AddAuditEntry(e) }
