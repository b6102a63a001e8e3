package apiserver

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// mailboxQuota is the storage of a new mailbox, in bytes.
const mailboxQuota = 10 << 30

func createMailbox(c *call, in *api.CreateMailboxRequest) (*api.Mailbox, error) {
	id := c.newID()
	return transact(c, func(tx store.Tx) (*api.Mailbox, error) {
		d, err := c.usableDomain(tx, in.Body.Domain)
		if err != nil {
			return nil, err
		}
		left, err := c.mailboxesLeft(tx)
		if err != nil {
			return nil, err
		}
		m, err := c.addMailbox(tx, d, left, id, in.Body.LocalPart, in.Body.FirstName, in.Body.LastName)
		if exists, ok := errors.AsType[*store.ExistsError](err); ok {
			return nil, api.Conflict("%s", c.mailboxExists(tx, d, in.Body.LocalPart, exists.ID))
		}
		if errors.Is(err, errMailboxQuota) {
			return nil, api.Conflict("%s (%d)", err, c.rules.get().maxMailboxes)
		}
		return m, err
	})
}

func (c *call) mailboxExists(r store.Reader, d store.Domain, localPart, id string) string {
	return "the mailbox " + localPart + "@" + d.Name + " exists already" + c.naming(r, api.CapMailboxView, domainScope(d.ID), " with the id ", id)
}

var errMailboxQuota = errors.New("the account has as many mailboxes as it may have")

// addMailbox makes a mailbox whose values have been checked, if the account may
// have one more. One that exists is told as such whether it may or not.
func (c *call) addMailbox(tx store.Tx, d store.Domain, left int, id, localPart, firstName, lastName string) (*api.Mailbox, error) {
	if left < 1 {
		switch other, err := tx.MailboxByAddress(c.caller.accountID, localPart, d.Name); {
		case err == nil:
			return nil, &store.ExistsError{ID: other.ID}
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		return nil, errMailboxQuota
	}
	m := store.Mailbox{
		ID: id, AccountID: c.caller.accountID, DomainID: d.ID, LocalPart: localPart, FirstName: firstName, LastName: lastName,
		State: store.Provisioning{Status: api.MailboxActive}, QuotaAllowed: mailboxQuota, CreatedAt: c.at,
	}
	if d.State.At(c.at) == api.DomainPending {
		m.State = store.Provisioning{Status: api.MailboxActive, Until: api.MailboxProvisioning, ReadyAt: d.State.ReadyAt}
	}
	if err := tx.CreateMailbox(&m); err != nil {
		return nil, err
	}
	w, err := tx.Workspace(c.caller.accountID, d.WorkspaceID)
	if err != nil {
		return nil, err
	}
	m.DomainName, m.WorkspaceID, m.WorkspaceName = d.Name, w.ID, w.Name
	return new(c.mailbox(m)), nil
}

// mailboxesLeft returns how many more mailboxes the account may have.
func (c *call) mailboxesLeft(r store.Reader) (int, error) {
	bound := c.rules.get().maxMailboxes
	if bound == 0 {
		return api.MaxBulkItems, nil
	}
	_, total, err := r.Mailboxes(c.caller.accountID, store.MailboxFilter{Now: c.at}, store.Slice{Limit: 1})
	return bound - total, err
}

func createMailboxes(c *call, in *api.CreateMailboxesRequest) (*api.CreatedMailboxes, error) {
	ids := make([]string, len(in.Body.Items))
	for i := range ids {
		ids[i] = c.newID()
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
				m, err := c.addMailbox(tx, d, left-len(out.Created), ids[i], localPart, item.FirstName, item.LastName)
				var exists *store.ExistsError
				switch {
				case errors.As(err, &exists):
					failed = &api.FailedMailboxItem{Code: api.BulkAlreadyExists, Message: c.mailboxExists(tx, d, localPart, exists.ID)}
				case errors.Is(err, errMailboxQuota):
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
		if strings.ContainsRune(field.value, 0) {
			return "", &api.FailedMailboxItem{Code: api.BulkInvalidName, Message: field.name + ": must not hold the character NUL"}
		}
	}
	if asked[localPart] {
		return "", &api.FailedMailboxItem{Code: api.BulkDuplicateInRequest, Message: "an earlier item of this request has the same local_part"}
	}
	asked[localPart] = true
	return localPart, nil
}

func listMailboxes(c *call, in *api.ListMailboxesRequest) (*api.Page[api.Mailbox], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.Mailbox, int, error) {
		domainID, ok, err := c.domainFilter(r, in.Domain)
		if err != nil || !ok {
			return nil, 0, err
		}
		return r.Mailboxes(c.caller.accountID, store.MailboxFilter{
			DomainID: domainID, WorkspaceID: in.WorkspaceID, Status: in.Status, Now: c.at, Search: in.Search,
			Within: c.caller.within(c.spec.Capability),
		}, s)
	}, c.mailbox)
}

func getMailbox(c *call, in *api.MailboxRequest) (*api.Mailbox, error) {
	return view(c, func(r store.Reader) (*api.Mailbox, error) {
		m, err := c.findMailbox(r, in.Mailbox)
		if err != nil {
			return nil, statusOf(err, "mailbox", "mailbox")
		}
		return new(c.mailbox(m)), nil
	})
}

func updateMailbox(c *call, in *api.UpdateMailboxRequest) (*api.Mailbox, error) {
	return transact(c, func(tx store.Tx) (*api.Mailbox, error) {
		m, err := c.findMailbox(tx, in.Mailbox)
		if err != nil {
			return nil, statusOf(err, "mailbox", "mailbox")
		}
		if in.Body.FirstName != nil {
			m.FirstName = *in.Body.FirstName
		}
		if in.Body.LastName != nil {
			m.LastName = *in.Body.LastName
		}
		m.UpdatedAt = c.at
		return new(c.mailbox(m)), tx.RenameMailbox(m.AccountID, m.ID, m.FirstName, m.LastName, c.at)
	})
}

func deleteMailbox(c *call, in *api.MailboxRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		m, err := c.findMailbox(tx, in.Mailbox)
		if err != nil {
			return nil, statusOf(err, "mailbox", "mailbox")
		}
		return &api.NoContent{}, tx.DeleteMailbox(m.AccountID, m.ID)
	})
}

// findMailbox returns the mailbox that a UUID or an address means to the caller,
// or store.ErrNotFound.
func (c *call) findMailbox(r store.Reader, ref string) (m store.Mailbox, err error) {
	if isID(ref) {
		m, err = r.Mailbox(c.caller.accountID, canonicalID(ref))
	} else {
		// The domain is looked up as it would be alone: a hand-written address
		// that is no valid one names no mailbox.
		at := strings.LastIndexByte(ref, '@')
		name, nameErr := domainname.Normalize(ref[at+1:])
		if at < 0 || nameErr != nil {
			return m, store.ErrNotFound
		}
		m, err = r.MailboxByAddress(c.caller.accountID, strings.ToLower(ref[:at]), name)
	}
	if err == nil && !sees(c.caller.within(c.spec.Capability), m.WorkspaceID, m.DomainID) {
		err = store.ErrNotFound
	}
	return m, err
}

func (c *call) mailbox(m store.Mailbox) api.Mailbox {
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
