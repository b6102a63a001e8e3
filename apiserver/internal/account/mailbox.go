package account

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// mailboxOperations binds the operations on mailboxes to their rules. mailbox_export.go exports
// mailboxes.
var mailboxOperations = []Operation{
	change(api.CreateMailbox, createMailbox),
	change(api.CreateMailboxes, createMailboxes),
	read(api.ListMailboxes, listMailboxes),
	read(api.GetMailbox, getMailbox),
	change(api.UpdateMailbox, updateMailbox),
	remove(api.DeleteMailbox, deleteMailbox),
	read(api.ExportMailboxes, exportMailboxes),
}

// MailboxQuota is the quota of a new mailbox, in bytes.
const MailboxQuota = 10 << 30

func createMailbox(c *Call, tx store.Tx, in *api.CreateMailboxRequest) (*api.Mailbox, error) {
	d, left, err := c.roomForMailboxes(tx, in.Body.Domain)
	if err != nil {
		return nil, err
	}
	m := store.Mailbox{LocalPart: in.Body.LocalPart, FirstName: in.Body.FirstName, LastName: in.Body.LastName}
	c.complete(&m, d)
	created, err := tx.CreateMailboxes([]*store.Mailbox{&m}, left)
	if err != nil || created[&m] {
		return new(c.mailbox(m)), err
	}
	refused, err := c.notCreated(tx, d, m)
	return nil, cmp.Or[error](err, api.Conflict("%s", refused.Message))
}

// createMailboxes creates a mailbox for each item. A failed item does not stop the others.
func createMailboxes(c *Call, tx store.Tx, in *api.CreateMailboxesRequest) (*api.CreatedMailboxes, error) {
	d, left, err := c.roomForMailboxes(tx, in.Body.Domain)
	if err != nil {
		return nil, err
	}
	out := &api.CreatedMailboxes{Created: []api.CreatedMailboxItem{}, Failed: []api.FailedMailboxItem{}}
	earlier := map[string]bool{} // local parts
	mailboxes, refusals := make([]*store.Mailbox, len(in.Body.Items)), make([]api.FailedMailboxItem, len(in.Body.Items))
	var valid []*store.Mailbox
	for i, item := range in.Body.Items {
		m, refused := checkItem(item, earlier)
		if mailboxes[i], refusals[i] = &m, refused; refused.Code == "" {
			c.complete(&m, d)
			valid = append(valid, &m)
		}
	}
	created, err := tx.CreateMailboxes(valid, left)
	if err != nil {
		return nil, err
	}
	for i, m := range mailboxes {
		if created[m] {
			out.Created = append(out.Created, api.CreatedMailboxItem{Index: i, Mailbox: c.mailbox(*m)})
			continue
		}
		refused := refusals[i]
		if refused.Code == "" {
			if refused, err = c.notCreated(tx, d, *m); err != nil {
				return nil, err
			}
		}
		refused.Index = i
		out.Failed = append(out.Failed, refused)
	}
	c.unchanged = len(out.Created) == 0
	return out, nil
}

// checkItem applies the rules of a single create to one item of a bulk request. refused is zero for
// a valid item.
func checkItem(item api.NewMailboxItem, earlier map[string]bool) (m store.Mailbox, refused api.FailedMailboxItem) {
	m.FirstName, m.LastName = item.FirstName, item.LastName
	var err error
	if m.LocalPart, err = emailaddr.ParseLocalPart(item.LocalPart); err != nil {
		return m, api.FailedMailboxItem{Code: api.BulkInvalidLocalPart, Message: "local_part: " + err.Error()}
	}
	for _, field := range []struct{ name, value string }{{"first_name", item.FirstName}, {"last_name", item.LastName}} {
		if err := api.FieldOf[api.CreateMailboxBody](field.name).Check(field.value).Rule(); err != nil {
			return m, api.FailedMailboxItem{Code: api.BulkInvalidName, Message: field.name + ": " + err.Error()}
		}
	}
	if earlier[m.LocalPart] {
		return m, api.FailedMailboxItem{Code: api.BulkDuplicateInRequest, Message: "an earlier item of this request has the same local_part"}
	}
	earlier[m.LocalPart] = true
	return m, refused
}

// roomForMailboxes returns a domain for new mailboxes, and how many more mailboxes the account's
// limit allows.
func (c *Call) roomForMailboxes(r store.Reader, domain string) (d store.Domain, left int, err error) {
	if d, err = c.usableDomain(r, domain); err != nil {
		return d, 0, err
	}
	limit := c.Rules.Settings.Get().MaxMailboxes
	if limit == 0 {
		return d, api.MaxBulkItems, nil
	}
	_, total, err := r.Mailboxes(c.Caller.AccountID, store.MailboxFilter{Now: c.Arrival}, store.Slice{Limit: 1})
	return d, limit - total, err
}

// complete sets all fields of a new mailbox in d except the local part and the names.
func (c *Call) complete(m *store.Mailbox, d store.Domain) {
	m.ID, m.AccountID, m.DomainID, m.QuotaAllowed, m.CreatedAt = c.Rules.Random.IDAt(c.Arrival), c.Caller.AccountID, d.ID, MailboxQuota, c.Arrival
	m.State = store.Provisioning{Status: vocab.MailboxActive}
	if d.State.At(c.Arrival) == vocab.DomainPending {
		m.State.Until, m.State.ReadyAt = vocab.MailboxProvisioning, d.State.ReadyAt
	}
}

// notCreated returns the reason why a mailbox was not created.
func (c *Call) notCreated(tx store.Tx, d store.Domain, m store.Mailbox) (api.FailedMailboxItem, error) {
	owner, err := tx.MailboxByAddress(m.AccountID, m.LocalPart, d.Name)
	if errors.Is(err, store.ErrNotFound) { // a taken address takes precedence over the limit
		limit := c.Rules.Settings.Get().MaxMailboxes
		return api.FailedMailboxItem{Code: api.BulkQuotaExceeded, Message: fmt.Sprintf("the account has reached its limit of %d mailboxes", limit)}, nil
	}
	return api.FailedMailboxItem{Code: api.BulkAlreadyExists, Message: c.addressTaken(tx, d, m.LocalPart, owner)}, err
}

// addressTaken returns the message of a conflict with the mailbox that uses an address, as its
// primary address or an alias. The message names the mailbox if the caller may see it.
func (c *Call) addressTaken(r store.Reader, d store.Domain, localPart string, owner store.Mailbox) string {
	address := localPart + "@" + d.Name
	if owner.Address() == address {
		return "the mailbox " + address + " exists already" + c.existingID(r, vocab.CapMailboxView, domainScope(d.ID), " with the id ", owner.ID)
	}
	of := c.existingID(r, vocab.CapMailboxView, domainScope(owner.DomainID), " of the mailbox "+owner.Address()+" with the id ", owner.ID)
	return address + " is an alias" + of + "; use another local part"
}

func listMailboxes(c *Call, r store.Reader, in *api.ListMailboxesRequest) (*api.Page[api.Mailbox], error) {
	d, err := c.domainFilter(r, in.Domain)
	if err != nil {
		return nil, err
	}
	return page(c, in.Paged, c.mailbox, r.Mailboxes, store.MailboxFilter{
		DomainID: d.ID, WorkspaceID: in.WorkspaceID, Status: in.Status, Now: c.Arrival, Search: in.Search, Within: c.within(),
	})
}

func getMailbox(c *Call, r store.Reader, in *api.MailboxRequest) (*api.Mailbox, error) {
	m, err := c.findMailbox(r, in.Mailbox)
	return new(c.mailbox(m)), err
}

func updateMailbox(c *Call, tx store.Tx, in *api.UpdateMailboxRequest) (*api.Mailbox, error) {
	id := api.CanonicalID(in.Mailbox)
	if !api.IsID(in.Mailbox) {
		m, err := c.mailboxByAddress(tx, in.Mailbox)
		if err != nil {
			return nil, err
		}
		id = m.ID
	}
	m, err := store.Update(tx, c.Caller.AccountID, id, func(m *store.Mailbox) error {
		if in.Body.FirstName != nil {
			m.FirstName = *in.Body.FirstName
		}
		if in.Body.LastName != nil {
			m.LastName = *in.Body.LastName
		}
		m.UpdatedAt = c.Arrival
		return c.ifVisible(nil, m.WorkspaceID, m.DomainID)
	})
	return new(c.mailbox(m)), err
}

// deleteMailbox deletes a mailbox. Internal forwarding rules to it become pending.
func deleteMailbox(c *Call, tx store.Tx, in *api.MailboxRequest) error {
	m, err := c.findMailbox(tx, in.Mailbox)
	if err != nil {
		return err
	}
	return store.Delete[store.Mailbox](tx, m.AccountID, m.ID, c.Arrival)
}

// findMailbox finds a mailbox by its UUID or primary address.
func (c *Call) findMailbox(r store.Reader, ref string) (m store.Mailbox, err error) {
	if api.IsID(ref) {
		m, err = store.Get[store.Mailbox](r, c.Caller.AccountID, api.CanonicalID(ref))
	} else {
		m, err = c.mailboxByAddress(r, ref)
	}
	return m, c.ifVisible(err, m.WorkspaceID, m.DomainID)
}

// mailboxByAddress finds a mailbox by its primary address. The domain may be in any form.
func (c *Call) mailboxByAddress(r store.Reader, address string) (store.Mailbox, error) {
	at := strings.LastIndexByte(address, '@')
	name, _ := domainname.Normalize(address[at+1:]) // no domain matches an empty name
	if at < 0 {
		return store.Mailbox{}, store.ErrNotFound
	}
	localPart := strings.ToLower(address[:at])
	m, err := r.MailboxByAddress(c.Caller.AccountID, localPart, name)
	if err == nil && (m.LocalPart != localPart || m.DomainName != name) {
		err = store.ErrNotFound // m matched by an alias
	}
	return m, err
}

func (c *Call) mailbox(m store.Mailbox) api.Mailbox {
	return api.Mailbox{
		ID: m.ID, DomainID: m.DomainID, DomainName: m.DomainName, LocalPart: m.LocalPart, PrimaryEmail: m.Address(),
		FirstName: m.FirstName, LastName: m.LastName, Status: m.State.At(c.Arrival),
		Quota:       api.Quota{Allowed: m.QuotaAllowed, Used: m.QuotaUsed},
		Aliases:     objects(m.Aliases, func(a store.MailboxAlias) api.MailboxAlias { return api.MailboxAlias(a) }),
		WorkspaceID: optional(m.WorkspaceID), WorkspaceName: optional(m.WorkspaceName),
		CreatedAt: timestamp(m.CreatedAt), UpdatedAt: timestamp(m.UpdatedAt),
	}
}
