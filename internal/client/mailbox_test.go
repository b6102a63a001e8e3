package client

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func TestUpdateSendsOnlyWhatChanged(t *testing.T) {
	f := fakeapi.New()
	id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
	name := "Joan"
	m, err := newClient(t, f).UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &name})
	assert.Check(t, err == nil && m.FirstName == name && m.LastName == "Doe" && len(f.Requests) == 1, "%+v, %v", m, err)
	assert.Check(t, is.Equal(f.Requests[0].Body, `{"first_name":"Joan"}`), "sent")
}

// TestLostCreateOfAnAddress checks that a lookup takes no mailbox of another domain, also if the API
// ignores the filter.
func TestLostCreateOfAnAddress(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-mailbox", DropAfter: true})
	f.Add("mailboxes", fakeapi.Mailbox("jane", "example.org"))
	m, err := newClient(t, f).CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: "example.com", LocalPart: "Jane", FirstName: "Jane", LastName: "Doe"})
	assert.Check(t, err == nil && m.PrimaryEmail == "jane@example.com" && f.Count("create-mailbox") == 1, "%+v, %v", m, err)
}

// TestMailboxesOfADomain checks that a list contains the mailboxes of its domain alone, by id or name, although the API ignores
// the filter; also if the mailboxes lack domain_id, because a set without its mailboxes would look empty.
func TestMailboxesOfADomain(t *testing.T) {
	for _, lacksID := range []bool{false, true} {
		f := fakeapi.New()
		id := f.Add("domains", fakeapi.Object{"name": "example.com"}, fakeapi.Object{"name": "example.org"})[0]
		jane, other := fakeapi.Mailbox("jane", "Example.COM."), fakeapi.Mailbox("joe", "example.org")
		jane["domain_id"] = id
		if lacksID {
			delete(jane, "domain_id")
			delete(other, "domain_id")
		}
		f.Add("mailboxes", other, jane)
		for _, domain := range []string{id, strings.ToUpper(id), "example.com"} {
			found, err := filter(newClient(t, f).ListMailboxes(t.Context(), api.ListMailboxesRequest{Domain: domain}), func(*api.Mailbox) bool { return true })
			assert.Check(t, err == nil && len(found) == 1 && found[0].LocalPart == "jane" && found[0].DomainID == id, "domain_id is missing: %t, %s: %+v, %v", lacksID, domain, found, err)
		}
		if lacksID {
			f.Stored["domains"] = nil
			_, err := newClient(t, f).CountMailboxes(t.Context(), id)
			assert.Check(t, err != nil && !IsNotFound(err), "without the domain: %v", err)
		}
	}
}

// TestUpdateWithoutContent checks that the object is read if the response to a change contains
// no body, or another object.
func TestUpdateWithoutContent(t *testing.T) {
	for _, text := range []string{" ", "null", "{}", `{"id":"11111111-0000-4000-8000-00000000000b"}`} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: "update-mailbox", Text: text})
		id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
		name := "Joan"
		m, err := newClient(t, f).UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &name})
		assert.Check(t, err == nil && m.FirstName == name && reflect.DeepEqual(f.Sent(), []string{"update-mailbox", "get-mailbox"}), "%q: %+v, %v after %v", text, m, err, f.Sent())
	}
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 200, Text: `{"id":"11111111-0000-4000-8000-00000000000b"}`})
	_, err := newClient(t, f).Mailboxes.Get(t.Context(), domainUUID)
	assert.Check(t, err != nil && strings.Contains(err.Error(), "another object"), "a read of another object: %v", err)
}

func TestExport(t *testing.T) {
	f := fakeapi.New()
	r, err := newClient(t, f).ExportMailboxes(t.Context(), api.ExportMailboxesBody{})
	assert.NilError(t, err)
	defer r.Close()
	csv, err := io.ReadAll(r)
	assert.Check(t, err == nil && string(csv) == "id,primary_email\r\n", "%q, %v", csv, err)
	assert.Check(t, is.Equal(f.Requests[0].Header.Get("Accept"), "text/csv, application/json"), "Accept")
	assert.Check(t, f.Requests[0].Key == "", "an export has no Idempotency-Key")
}

func isActive(m *api.Mailbox) (bool, error) { return m.Status == vocab.MailboxActive, nil }

func TestWaitFor(t *testing.T) {
	for _, published := range []bool{false, true} {
		f := fakeapi.New()
		if published {
			f.PublishedOnly(405)
		}
		m := fakeapi.Mailbox("jane", "example.com")
		m["status"] = vocab.MailboxProvisioning
		id := f.Add("mailboxes", m)[0]
		c := newClient(t, f)
		polls := 0
		f.Clock.OnSleep = func() {
			if polls++; polls == 4 {
				m["status"] = vocab.MailboxActive
			}
		}
		got, err := WaitFor(t.Context(), c, func(ctx context.Context) (*api.Mailbox, error) { return c.Mailboxes.Get(ctx, id) }, isActive)
		assert.Check(t, err == nil && got.Status == vocab.MailboxActive && polls == 4, "published only %v: %+v, %v after %d polls", published, got, err, polls)
		for i, d := range f.Clock.Sleeps[1:] {
			assert.Check(t, d > f.Clock.Sleeps[i], "waits %v do not grow", f.Clock.Sleeps)
		}
	}
}

func TestWaitForEnds(t *testing.T) {
	f := fakeapi.New()
	m := fakeapi.Mailbox("jane", "example.com")
	m["status"] = vocab.MailboxProvisioning
	id := f.Add("mailboxes", m)[0]
	c := newClient(t, f)
	get := func(ctx context.Context) (*api.Mailbox, error) { return c.Mailboxes.Get(ctx, id) }

	ctx, cancel := context.WithCancel(t.Context())
	f.Clock.OnSleep = cancel
	got, err := WaitFor(ctx, c, get, isActive)
	assert.Check(t, errors.Is(err, context.Canceled) && strings.Contains(err.Error(), "waiting ended") && got != nil, "cancelled: %+v, %v", got, err)
	broken := errors.New("it failed")
	got, err = WaitFor(t.Context(), c, get, func(*api.Mailbox) (bool, error) { return false, broken })
	assert.Check(t, errors.Is(err, broken) && got != nil, "done fails: %+v, %v", got, err)
	f.Stored["mailboxes"] = nil
	f.Clock.OnSleep = nil
	got, err = WaitFor(t.Context(), c, get, isActive)
	assert.Check(t, IsNotFound(err) && got == nil, "deleted: %+v, %v", got, err)
}
