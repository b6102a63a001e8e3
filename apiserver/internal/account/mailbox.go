package account

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/idempotency"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// MailboxQuota is the storage of a new mailbox, in bytes.
const MailboxQuota = 10 << 30

// CreateMailbox implements api.CreateMailbox.
func CreateMailbox(c *Call, in *api.CreateMailboxRequest) (*api.Mailbox, error) {
	id := c.rules.random.ID()
	return transact(c, func(tx store.Tx) (*api.Mailbox, error) {
		d, err := c.usableDomain(tx, in.Body.Domain)
		if err != nil {
			return nil, err
		}
		existing := func(id string) (*api.Mailbox, error) {
			m, err := tx.Mailbox(c.caller.AccountID, id)
			if err == nil && (m.DomainID != d.ID || m.LocalPart != in.Body.LocalPart || m.FirstName != in.Body.FirstName || m.LastName != in.Body.LastName) {
				err = store.ErrNotFound
			}
			return new(c.mailbox(m)), err
		}
		create := func() (*api.Mailbox, error) {
			return c.createMailboxIn(tx, d, id, in.Body)
		}
		return idempotency.Create[api.Mailbox]{
			Body: &in.Body, Existing: existing, New: create,
			ID: func(m *api.Mailbox) string { return m.ID },
		}.Run(c.idempotency, tx, c.at)
	})
}

// createMailboxIn creates a mailbox in a domain.
func (c *Call) createMailboxIn(tx store.Tx, d store.Domain, id string, body api.CreateMailboxBody) (*api.Mailbox, error) {
	left, err := c.mailboxesLeft(tx)
	if err != nil {
		return nil, err
	}
	m, err := c.addMailbox(tx, d, left, store.Mailbox{ID: id, LocalPart: body.LocalPart, FirstName: body.FirstName, LastName: body.LastName})
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		msg, err := c.addressTaken(tx, d, body.LocalPart, exists.ID)
		if err != nil {
			return nil, err
		}
		return nil, api.Conflict("%s", msg)
	}
	if errors.Is(err, errMailboxLimit) {
		return nil, api.Conflict("%s (%d)", err, c.rules.settings.Get().MaxMailboxes)
	}
	return m, err
}

// addressTaken returns the message of a conflict with the mailbox that has an
// address already, as its primary one or as an alias. It names the mailbox if the
// caller may see it.
func (c *Call) addressTaken(r store.Reader, d store.Domain, localPart, mailboxID string) (string, error) {
	address := localPart + "@" + d.Name
	owner, err := r.Mailbox(c.caller.AccountID, mailboxID)
	if err != nil {
		return "", err
	}
	if owner.Address() == address {
		return "the mailbox " + address + " exists already" + c.naming(r, vocab.CapMailboxView, domainScope(d.ID), " with the id ", mailboxID), nil
	}
	of := c.naming(r, vocab.CapMailboxView, domainScope(owner.DomainID), " of the mailbox "+owner.Address()+" with the id ", mailboxID)
	return address + " is an alias" + of + "; use another local part", nil
}

var errMailboxLimit = errors.New("the account has as many mailboxes as it may have")

// addMailbox creates m, whose id, address and names are valid, in d if the account may
// have at least one more mailbox: left is how many. A taken address is an
// *store.ExistsError even if the account is at its limit.
func (c *Call) addMailbox(tx store.Tx, d store.Domain, left int, m store.Mailbox) (*api.Mailbox, error) {
	if left < 1 {
		switch other, err := tx.MailboxByAddress(c.caller.AccountID, m.LocalPart, d.Name); {
		case err == nil:
			return nil, &store.ExistsError{ID: other.ID}
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		return nil, errMailboxLimit
	}
	m.AccountID, m.DomainID, m.QuotaAllowed, m.CreatedAt = c.caller.AccountID, d.ID, MailboxQuota, c.at
	m.State = store.Provisioning{Status: vocab.MailboxActive}
	if d.State.At(c.at) == vocab.DomainPending {
		m.State.Until, m.State.ReadyAt = vocab.MailboxProvisioning, d.State.ReadyAt
	}
	if err := tx.CreateMailbox(&m); err != nil {
		return nil, err
	}
	return new(c.mailbox(m)), nil
}

// mailboxesLeft returns how many more mailboxes the account may have.
func (c *Call) mailboxesLeft(r store.Reader) (int, error) {
	bound := c.rules.settings.Get().MaxMailboxes
	if bound == 0 {
		return api.MaxBulkItems, nil
	}
	_, total, err := r.Mailboxes(c.caller.AccountID, store.MailboxFilter{Now: c.at}, store.Slice{Limit: 1})
	return bound - total, err
}

// CreateMailboxes implements api.CreateMailboxes.
func CreateMailboxes(c *Call, in *api.CreateMailboxesRequest) (*api.CreatedMailboxes, error) {
	ids := make([]string, len(in.Body.Items))
	for i := range ids {
		ids[i] = c.rules.random.ID()
	}
	return transact(c, func(tx store.Tx) (*api.CreatedMailboxes, error) {
		d, err := c.usableDomain(tx, in.Body.Domain)
		if err != nil {
			return nil, err
		}
		left, err := c.mailboxesLeft(tx)
		if err != nil {
			return nil, err
		}
		out := &api.CreatedMailboxes{Created: []api.CreatedMailboxItem{}, Failed: []api.FailedMailboxItem{}}
		asked := map[string]bool{}
		for i, item := range in.Body.Items {
			localPart, failed := checkItem(item, asked)
			if failed == nil {
				m, err := c.addMailbox(tx, d, left-len(out.Created), store.Mailbox{ID: ids[i], LocalPart: localPart, FirstName: item.FirstName, LastName: item.LastName})
				var exists *store.ExistsError
				switch {
				case errors.As(err, &exists):
					msg, err := c.addressTaken(tx, d, localPart, exists.ID)
					if err != nil {
						return nil, err
					}
					failed = &api.FailedMailboxItem{Code: api.BulkAlreadyExists, Message: msg}
				case errors.Is(err, errMailboxLimit):
					failed = &api.FailedMailboxItem{Code: api.BulkQuotaExceeded, Message: err.Error()}
				case err != nil:
					return nil, err
				default:
					out.Created = append(out.Created, api.CreatedMailboxItem{Index: i, Mailbox: *m})
					continue
				}
			}
			failed.Index = i
			out.Failed = append(out.Failed, *failed)
		}
		c.unchanged = len(out.Created) == 0
		return out, nil
	})
}

// checkItem applies the rules of a single create to one item of a bulk request.
func checkItem(item api.NewMailboxItem, asked map[string]bool) (localPart string, failed *api.FailedMailboxItem) {
	localPart, err := emailaddr.ParseLocalPart(item.LocalPart)
	if err != nil {
		return "", &api.FailedMailboxItem{Code: api.BulkInvalidLocalPart, Message: "local_part: " + err.Error()}
	}
	for _, field := range []struct{ name, value string }{{"first_name", item.FirstName}, {"last_name", item.LastName}} {
		limits := api.LimitsOf[api.CreateMailboxBody](field.name)
		if n := utf8.RuneCountInString(field.value); n < *limits.MinLength || n > *limits.MaxLength {
			return "", &api.FailedMailboxItem{Code: api.BulkInvalidName, Message: field.name + ": " + limits.LengthRule()}
		}
		if err := text.CheckName(field.value); err != nil {
			return "", &api.FailedMailboxItem{Code: api.BulkInvalidName, Message: field.name + ": " + err.Error()}
		}
	}
	if asked[localPart] {
		return "", &api.FailedMailboxItem{Code: api.BulkDuplicateInRequest, Message: "an earlier item of this request has the same local_part"}
	}
	asked[localPart] = true
	return localPart, nil
}

// ListMailboxes implements api.ListMailboxes.
func ListMailboxes(c *Call, in *api.ListMailboxesRequest) (*api.Page[api.Mailbox], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.Mailbox, int, error) {
		domainID, ok, err := c.domainFilter(r, in.Domain)
		if err != nil || !ok {
			return nil, 0, err
		}
		return r.Mailboxes(c.caller.AccountID, store.MailboxFilter{
			DomainID: domainID, WorkspaceID: in.WorkspaceID, Status: in.Status, Now: c.at, Search: in.Search,
			Within: c.caller.Within(c.spec.Capability),
		}, s)
	}, c.mailbox)
}

// GetMailbox implements api.GetMailbox.
func GetMailbox(c *Call, in *api.MailboxRequest) (*api.Mailbox, error) {
	return view(c, func(r store.Reader) (*api.Mailbox, error) {
		m, err := c.findMailbox(r, in.Mailbox)
		if err != nil {
			return nil, statusOf(err, "mailbox", "mailbox")
		}
		return new(c.mailbox(m)), nil
	})
}

// UpdateMailbox implements api.UpdateMailbox.
func UpdateMailbox(c *Call, in *api.UpdateMailboxRequest) (*api.Mailbox, error) {
	return transact(c, func(tx store.Tx) (*api.Mailbox, error) {
		id, err := c.mailboxID(tx, in.Mailbox)
		if err != nil {
			return nil, statusOf(err, "mailbox", "mailbox")
		}
		m, err := tx.UpdateMailbox(c.caller.AccountID, id, func(m *store.Mailbox) error {
			if !c.seesMailbox(m) {
				return store.ErrNotFound
			}
			if in.Body.FirstName != nil {
				m.FirstName = *in.Body.FirstName
			}
			if in.Body.LastName != nil {
				m.LastName = *in.Body.LastName
			}
			m.UpdatedAt = c.at
			return nil
		})
		return new(c.mailbox(m)), statusOf(err, "mailbox", "mailbox")
	})
}

// DeleteMailbox implements api.DeleteMailbox.
func DeleteMailbox(c *Call, in *api.MailboxRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		m, err := c.findMailbox(tx, in.Mailbox)
		if err != nil {
			return nil, statusOf(err, "mailbox", "mailbox")
		}
		return &api.NoContent{}, tx.DeleteMailbox(m.AccountID, m.ID, c.at)
	})
}

// findMailbox returns the mailbox with a UUID or a primary address if the caller
// may see it, and store.ErrNotFound otherwise.
func (c *Call) findMailbox(r store.Reader, ref string) (m store.Mailbox, err error) {
	if api.IsID(ref) {
		m, err = r.Mailbox(c.caller.AccountID, api.CanonicalID(ref))
	} else {
		m, err = c.mailboxByAddress(r, ref)
	}
	if err == nil && !c.seesMailbox(&m) {
		err = store.ErrNotFound
	}
	return m, err
}

// mailboxID returns the id of the mailbox with a UUID or a primary address. It
// does not check whether a mailbox with the UUID exists.
func (c *Call) mailboxID(r store.Reader, ref string) (string, error) {
	if api.IsID(ref) {
		return api.CanonicalID(ref), nil
	}
	m, err := c.mailboxByAddress(r, ref)
	return m.ID, err
}

// mailboxByAddress returns the mailbox with a primary address. An invalid address
// names no mailbox. The domain may be written in any form that names it alone.
func (c *Call) mailboxByAddress(r store.Reader, address string) (store.Mailbox, error) {
	at := strings.LastIndexByte(address, '@')
	name, err := domainname.Normalize(address[at+1:])
	if at < 0 || err != nil {
		return store.Mailbox{}, store.ErrNotFound
	}
	localPart := strings.ToLower(address[:at])
	m, err := r.MailboxByAddress(c.caller.AccountID, localPart, name)
	if err == nil && (m.LocalPart != localPart || m.DomainName != name) {
		err = store.ErrNotFound // an alias
	}
	return m, err
}

func (c *Call) seesMailbox(m *store.Mailbox) bool {
	return sees(c.caller.Within(c.spec.Capability), m.WorkspaceID, m.DomainID)
}

func (c *Call) mailbox(m store.Mailbox) api.Mailbox {
	aliases := make([]api.MailboxAlias, len(m.Aliases))
	for i, a := range m.Aliases {
		aliases[i] = api.MailboxAlias(a)
	}
	return api.Mailbox{
		ID: m.ID, DomainID: m.DomainID, DomainName: m.DomainName, LocalPart: m.LocalPart, PrimaryEmail: m.Address(),
		FirstName: m.FirstName, LastName: m.LastName, Status: m.State.At(c.at),
		Quota: api.Quota{Allowed: m.QuotaAllowed, Used: m.QuotaUsed}, Aliases: aliases,
		WorkspaceID: optional(m.WorkspaceID), WorkspaceName: optional(m.WorkspaceName),
		CreatedAt: timestamp(m.CreatedAt), UpdatedAt: timestamp(m.UpdatedAt),
	}
}
