package client

import (
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func bulk(locals ...string) api.CreateMailboxesBody {
	body := api.CreateMailboxesBody{Domain: "example.com"}
	for _, local := range locals {
		body.Items = append(body.Items, api.NewMailboxItem{LocalPart: local, FirstName: "Jane", LastName: "Doe"})
	}
	return body
}

func TestBulkWithLostAnswers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		honours bool
		before  []string // there before the call, from a part of the lost one
		body    api.CreateMailboxesBody
		fault   fault
		posts   int
		created string // indexes
		failed  string // index and code
	}{
		{"no loss", false, nil, bulk("a", "b"), fault{}, 1, "[0 1]", "[]"},
		{"lost after commit", false, nil, bulk("a", "b"), fault{dropAfter: true}, 1, "[0 1]", "[]"},
		{"lost before commit", false, nil, bulk("a", "b"), fault{dropBefore: true}, 2, "[0 1]", "[]"},
		{"empty answer", false, nil, bulk("a", "b"), fault{text: "{}"}, 1, "[0 1]", "[]"},
		{"half done", false, []string{"b"}, bulk("a", "b", "c"), fault{dropBefore: true}, 2, "[0 1 2]", "[]"},
		{"one can't be done, keys ignored", false, nil, bulk("a", "", "c"), fault{dropAfter: true}, 2, "[0 2]", "[1 invalid_local_part]"},
		{"one can't be done, keys honoured", true, nil, bulk("a", "", "c"), fault{dropAfter: true}, 2, "[0 2]", "[1 invalid_local_part]"},
		{"one there before, keys honoured", true, []string{"b"}, bulk("a", "b", ""), fault{dropAfter: true}, 2, "[0]", "[1 already_exists 2 invalid_local_part]"},
		{"twice in the request", false, nil, bulk("a", "A"), fault{dropAfter: true}, 1, "[0]", "[1 duplicate_in_request]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeAPI()
			f.honoursKeys = tc.honours
			for _, local := range tc.before {
				f.add("mailboxes", mailboxObject(local, "example.com"))
			}
			tc.fault.op = "create-mailboxes"
			f.fail(tc.fault)
			r, err := f.client(t).CreateMailboxes(t.Context(), tc.body)
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
			if fmt.Sprint(created) != tc.created || fmt.Sprint(failed) != tc.failed || f.count("create-mailboxes") != tc.posts {
				t.Errorf("created %v, want %s; failed %v, want %s; %v", created, tc.created, failed, tc.failed, f.sent())
			}
		})
	}
}

func TestUpdateSendsOnlyWhatChanged(t *testing.T) {
	f := newFakeAPI()
	id := f.add("mailboxes", mailboxObject("jane", "example.com"))[0]
	name := "Joan"
	m, err := f.client(t).UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &name})
	if err != nil || m.FirstName != name || m.LastName != "Doe" {
		t.Errorf("%+v, %v", m, err)
	}
	if body := f.requests[0].body; body != `{"first_name":"Joan"}` {
		t.Errorf("sent %s", body)
	}
}

// An API that answers a change without content is read instead.
func TestUpdateWithoutContent(t *testing.T) {
	for _, text := range []string{" ", "null", "{}"} {
		f := newFakeAPI().fail(fault{op: "update-mailbox", text: text})
		id := f.add("mailboxes", mailboxObject("jane", "example.com"))[0]
		name := "Joan"
		m, err := f.client(t).UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &name})
		if err != nil || m.FirstName != name || !reflect.DeepEqual(f.sent(), []string{"update-mailbox", "get-mailbox"}) {
			t.Errorf("%q: %+v, %v after %v", text, m, err, f.sent())
		}
	}
}

func TestUpdateDomainWithoutContent(t *testing.T) {
	f := newFakeAPI().fail(fault{op: "update-domain", text: " "})
	id := f.add("domains", object{"name": "example.com"})[0]
	yes := true
	s, err := f.client(t).UpdateDomain(t.Context(), "example.com", api.UpdateDomainBody{AutoRenew: &yes, RedirectURL: api.NullableFrom[string](nil)})
	if err != nil || s.ID != id || !s.AutoRenew {
		t.Errorf("%+v, %v", s, err)
	}
	if body := f.requests[0].body; body != `{"auto_renew":true,"redirect_url":null}` {
		t.Errorf("sent %s", body)
	}
}

func TestExport(t *testing.T) {
	f := newFakeAPI()
	r, err := f.client(t).ExportMailboxes(t.Context(), api.ExportMailboxesBody{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if csv, err := io.ReadAll(r); err != nil || string(csv) != "id,primary_email\r\n" {
		t.Errorf("%q, %v", csv, err)
	}
	if accept := f.requests[0].header.Get("Accept"); accept != "text/csv, application/json" {
		t.Errorf("Accept: %s", accept)
	}
	if f.requests[0].key != "" {
		t.Error("an export has no Idempotency-Key")
	}
}
