package client

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var jane = api.CreateMailboxBody{Domain: "example.com", LocalPart: "jane", FirstName: "Jane", LastName: "Doe"}

// TestResumed checks that a create reports that the API went on with an interrupted one.
func TestResumed(t *testing.T) {
	for _, resumes := range []bool{false, true} {
		f := newFakeAPI()
		if resumes {
			f.answers = http.Header{"Idempotency-Resumed": {"true"}}
		}
		if _, resumed, err := f.client(t).CreateMailbox(t.Context(), jane); err != nil || resumed != resumes {
			t.Errorf("resumed %t, want %t: %v", resumed, resumes, err)
		}
	}
}

// TestLookupNamesItsCreate checks that a lookup after a lost response carries the create's
// Idempotency-Key, also when the run was interrupted: otherwise a later run could take the
// object over.
func TestLookupNamesItsCreate(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		f := newFakeAPI()
		f.fail(fault{op: "create-mailbox", dropAfter: true})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if interrupted {
			f.onDrop = cancel
		}
		if _, resumed, err := f.client(t).CreateMailbox(ctx, jane); err != nil || resumed {
			t.Errorf("resumed %t: %v", resumed, err)
		}
		if sent := f.sent(); !slices.Equal(sent, []string{"create-mailbox", "list-mailboxes"}) || f.requests[0].key == "" || f.requests[0].key != f.requests[1].header.Get("Idempotency-Lookup") {
			t.Errorf("sent %q: %v", sent, f.requests)
		}
	}
}

// After a lost refusal the same key is sent, and nothing under another key:
// neither what costs money nor what does not.
func TestLostRefusalIsRetriedUnderOneKey(t *testing.T) {
	for op, create := range map[string]func(*Client) error{
		"create-mailbox": func(c *Client) error { _, _, err := c.CreateMailbox(t.Context(), jane); return err },
		"purchase-domains": func(c *Client) error {
			_, err := c.PurchaseDomain(t.Context(), "example.com", "w", api.ContactInfo{})
			return err
		},
		"claim-dedicated-ip": func(c *Client) error { _, err := c.ClaimDedicatedIP(t.Context(), "option"); return err },
	} {
		f := newFakeAPI()
		f.honoursKeys = true
		f.refuses = map[string]answer{op: problem(409, api.TypeConflict, "not now")}
		f.fail(fault{op: op, dropAfter: true})
		err := create(f.client(t))
		keys := map[string]bool{}
		for _, r := range f.requests {
			if r.op == op {
				keys[r.key] = true
			}
		}
		if err == nil || f.count(op) > 2 || len(keys) != 1 {
			t.Errorf("%s was sent %d times under %d keys: %v", op, f.count(op), len(keys), err)
		}
	}
}
