package client

import (
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func bulk(locals ...string) api.CreateMailboxesBody {
	body := api.CreateMailboxesBody{Domain: "example.com"}
	for _, local := range locals {
		body.Items = append(body.Items, api.NewMailboxItem{LocalPart: local, FirstName: "Jane", LastName: "Doe"})
	}
	return body
}

func TestBulkWithLostResponses(t *testing.T) {
	for _, tc := range []struct {
		name    string
		honours bool
		before  []string // there before the call, from a part of the lost one
		body    api.CreateMailboxesBody
		fault   fakeapi.Fault
		posts   int
		created string // indexes
		failed  string // index and code
	}{
		{"no loss", false, nil, bulk("a", "b"), fakeapi.Fault{}, 1, "[0 1]", "[]"},
		{"lost after commit", false, nil, bulk("a", "b"), fakeapi.Fault{DropAfter: true}, 1, "[0 1]", "[]"},
		{"lost before commit", false, nil, bulk("a", "b"), fakeapi.Fault{DropBefore: true}, 2, "[0 1]", "[]"},
		{"empty response", false, nil, bulk("a", "b"), fakeapi.Fault{Text: "{}"}, 1, "[0 1]", "[]"},
		{"half done", false, []string{"b"}, bulk("a", "b", "c"), fakeapi.Fault{DropBefore: true}, 2, "[0 1 2]", "[]"},
		{"one can't be done, keys ignored", false, nil, bulk("a", "", "c"), fakeapi.Fault{DropAfter: true}, 2, "[0 2]", "[1 invalid_local_part]"},
		{"one can't be done, keys honoured", true, nil, bulk("a", "", "c"), fakeapi.Fault{DropAfter: true}, 2, "[0 2]", "[1 invalid_local_part]"},
		{"one there before, keys honoured", true, []string{"b"}, bulk("a", "b", ""), fakeapi.Fault{DropAfter: true}, 2, "[0]", "[1 already_exists 2 invalid_local_part]"},
		{"twice in the request", false, nil, bulk("a", "A"), fakeapi.Fault{DropAfter: true}, 1, "[0]", "[1 duplicate_in_request]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			f.HonoursKeys = tc.honours
			for _, local := range tc.before {
				f.Add("mailboxes", fakeapi.Mailbox(local, "example.com"))
			}
			tc.fault.Op = "create-mailboxes"
			f.Fail(tc.fault)
			r, err := newClient(t, f).CreateMailboxes(t.Context(), tc.body)
			if err != nil {
				t.Fatal(err)
			}
			created, failed := []int{}, []any{}
			for _, item := range r.Created {
				created = append(created, item.Index)
				if want := normalizeID(tc.body.Items[item.Index].LocalPart); item.Mailbox.LocalPart != want || item.Mailbox.ID == "" {
					t.Errorf("item %d is %+v", item.Index, item.Mailbox)
				}
			}
			for _, item := range r.Failed {
				failed = append(failed, item.Index, item.Code)
			}
			if fmt.Sprint(created) != tc.created || fmt.Sprint(failed) != tc.failed || f.Count("create-mailboxes") != tc.posts {
				t.Errorf("created %v, want %s; failed %v, want %s; %v", created, tc.created, failed, tc.failed, f.Sent())
			}
		})
	}
}

func TestUpdateSendsOnlyWhatChanged(t *testing.T) {
	f := fakeapi.New()
	id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
	name := "Joan"
	m, err := newClient(t, f).UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &name})
	if err != nil || m.FirstName != name || m.LastName != "Doe" {
		t.Errorf("%+v, %v", m, err)
	}
	if body := f.Requests[0].Body; body != `{"first_name":"Joan"}` {
		t.Errorf("sent %s", body)
	}
}

// If an API responds to a change without content, the object is read.
func TestUpdateWithoutContent(t *testing.T) {
	for _, text := range []string{" ", "null", "{}"} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: "update-mailbox", Text: text})
		id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
		name := "Joan"
		m, err := newClient(t, f).UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &name})
		if err != nil || m.FirstName != name || !reflect.DeepEqual(f.Sent(), []string{"update-mailbox", "get-mailbox"}) {
			t.Errorf("%q: %+v, %v after %v", text, m, err, f.Sent())
		}
	}
}

func TestUpdateDomainWithoutContent(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "update-domain", Text: " "})
	id := f.Add("domains", fakeapi.Object{"name": "example.com"})[0]
	yes := true
	s, err := newClient(t, f).UpdateDomain(t.Context(), "example.com", api.UpdateDomainBody{AutoRenew: &yes, RedirectURL: api.NullableFrom[string](nil)})
	if err != nil || s.ID != id || !s.AutoRenew {
		t.Errorf("%+v, %v", s, err)
	}
	if body := f.Requests[0].Body; body != `{"auto_renew":true,"redirect_url":null}` {
		t.Errorf("sent %s", body)
	}
}

func TestExport(t *testing.T) {
	f := fakeapi.New()
	r, err := newClient(t, f).ExportMailboxes(t.Context(), api.ExportMailboxesBody{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if csv, err := io.ReadAll(r); err != nil || string(csv) != "id,primary_email\r\n" {
		t.Errorf("%q, %v", csv, err)
	}
	if accept := f.Requests[0].Header.Get("Accept"); accept != "text/csv, application/json" {
		t.Errorf("Accept: %s", accept)
	}
	if f.Requests[0].Key != "" {
		t.Error("an export has no Idempotency-Key")
	}
}
