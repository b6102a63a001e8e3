package client

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var jane = api.CreateMailboxBody{Domain: "example.com", LocalPart: "jane", FirstName: "Jane", LastName: "Doe"}

// cutOff lets a create be done without the client coming to know of it, as when
// the program or the server is killed in the middle.
func cutOff(t *testing.T, f *fakeAPI) {
	t.Helper()
	f.fail(fault{op: "create-mailbox", dropAfter: true}, fault{op: "list-mailboxes", dropBefore: true, times: 100})
	var resumed bool
	if m, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); err == nil {
		t.Fatalf("the create is known of: %v", m)
	}
	f.faults = nil
	if n := len(f.stored["mailboxes"]); n != 1 {
		t.Fatalf("%d mailboxes stored", n)
	}
}

func TestResume(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile    func(*fakeAPI)
		resumed      bool
		conflict     bool
		stored       int
		ignoresKeys  bool
		publishedAPI bool
	}{
		"goes on":                 {resumed: true, stored: 1},
		"without a read of one":   {publishedAPI: true, resumed: true, stored: 1},
		"it is gone by now":       {meanwhile: func(f *fakeAPI) { f.stored["mailboxes"] = nil }, stored: 1},
		"it has changed":          {meanwhile: func(f *fakeAPI) { f.stored["mailboxes"][0]["first_name"] = "Joan" }, conflict: true, stored: 1},
		"the API ignores the key": {ignoresKeys: true, conflict: true, stored: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			f.unique, f.honoursKeys = true, !tc.ignoresKeys
			if tc.publishedAPI {
				f.publishedOnly(404)
			}
			cutOff(t, f)
			if tc.meanwhile != nil {
				tc.meanwhile(f)
			}
			var resumed bool
			m, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed))
			if IsConflict(err) != tc.conflict || !tc.conflict && err != nil {
				t.Fatalf("got %v", err)
			}
			if resumed != tc.resumed || len(f.stored["mailboxes"]) != tc.stored {
				t.Errorf("resumed %v, stored %v", resumed, f.stored["mailboxes"])
			}
			if err == nil && m.ID != idText(f.stored["mailboxes"][0]) {
				t.Errorf("got id %s, stored %v", m.ID, f.stored["mailboxes"])
			}
		})
	}
}

// The same request in a later run, when the earlier run got its answer, is a
// mistake in the configuration: one mailbox for two resources.
func TestNoResumeOfWhatWasDelivered(t *testing.T) {
	f := newFakeAPI()
	f.unique, f.honoursKeys = true, true
	var resumed bool
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); !IsConflict(err) || resumed {
		t.Errorf("resumed %v, got %v", resumed, err)
	}
}

// The same request twice in one run is a mistake in the configuration.
func TestNoResumeWithinOneRun(t *testing.T) {
	f := newFakeAPI()
	f.unique, f.honoursKeys = true, true
	c := f.client(t)
	var resumed bool
	if _, err := c.CreateMailbox(t.Context(), jane, Resumable(&resumed)); err != nil || resumed {
		t.Fatal(resumed, err)
	}
	if _, err := c.CreateMailbox(t.Context(), jane, Resumable(&resumed)); !IsConflict(err) || resumed {
		t.Errorf("resumed %v, got %v", resumed, err)
	}
}

// A retry within one call is no resumption.
func TestRetryIsNoResumption(t *testing.T) {
	f := newFakeAPI()
	f.honoursKeys = true
	f.fail(fault{op: "create-mailbox", status: 429}, fault{op: "create-mailbox", dropAfter: true})
	var resumed bool
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); err != nil || resumed {
		t.Errorf("resumed %v, got %v", resumed, err)
	}
}

// resumables create something under a key that is derived from the request.
var resumables = map[string]func(*testing.T, *Client, ...CreateOption) (id string, err error){
	"mailboxes": func(t *testing.T, c *Client, opts ...CreateOption) (string, error) {
		m, err := c.CreateMailbox(t.Context(), jane, opts...)
		return idOrNone(err, func() string { return m.ID }), err
	},
	"dns-records": func(t *testing.T, c *Client, opts ...CreateOption) (string, error) {
		r, err := c.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "www", Type: "A", Value: "192.0.2.1"}, opts...)
		return idOrNone(err, func() string { return strconv.FormatInt(r.ID, 10) }), err
	},
	"forwarding": func(t *testing.T, c *Client, opts ...CreateOption) (string, error) {
		f, err := c.CreateForwarding(t.Context(), api.CreateForwardingBody{TargetEmail: "jane@example.net"}, opts...)
		return idOrNone(err, func() string { return f.ID }), err
	},
}

func idOrNone(err error, id func() string) string {
	if err != nil {
		return ""
	}
	return id()
}

var createOf = map[string]string{"mailboxes": "create-mailbox", "dns-records": "create-dns-record", "forwarding": "create-forwarding"}

// A refusal is kept for its key like every answer, but what it was for may have
// changed before the next run.
func TestKeptRefusalIsAskedAgain(t *testing.T) {
	for collection, create := range resumables {
		for status, typ := range map[int]string{422: api.TypeValue, 409: api.TypeConflict, 403: api.TypePermissionDenied} {
			t.Run(collection+" "+strconv.Itoa(status), func(t *testing.T) {
				f := newFakeAPI()
				f.honoursKeys, f.unique = true, true
				f.add("domains", object{"name": "example.com"})
				op := createOf[collection]
				run := func() (id string, sent int, err error) {
					before := f.count(op)
					var resumed bool
					id, err = create(t, f.client(t), Resumable(&resumed))
					if resumed {
						t.Error("resumed")
					}
					return id, f.count(op) - before, err
				}
				f.refuses = map[string]answer{op: problem(status, typ, "for the first time")}
				if _, sent, err := run(); StatusOf(err) != status || sent != 1 {
					t.Fatalf("the first run sent %d and got %v", sent, err)
				}
				// What is still refused is refused with today's reason.
				f.refuses[op] = problem(status, typ, "for the second time")
				if _, sent, err := run(); StatusOf(err) != status || !strings.Contains(err.Error(), "second") || sent != 2 {
					t.Fatalf("the second run sent %d and got %v", sent, err)
				}
				delete(f.refuses, op)
				id, sent, err := run()
				if err != nil || sent != 2 || len(f.stored[collection]) != 1 || id != idText(f.stored[collection][0]) {
					t.Fatalf("the third run sent %d and got %s, %v; stored %v", sent, id, err, f.stored[collection])
				}
			})
		}
	}
}

// The same where the first request of the later run does not arrive.
func TestKeptRefusalAfterALostRequest(t *testing.T) {
	f := newFakeAPI()
	f.honoursKeys = true
	f.refuses = map[string]answer{"create-mailbox": problem(422, api.TypeValue, "no such domain")}
	var resumed bool
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); StatusOf(err) != 422 {
		t.Fatal(err)
	}
	f.refuses = nil
	f.fail(fault{op: "create-mailbox", dropBefore: true})
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); err != nil || resumed || len(f.stored["mailboxes"]) != 1 {
		t.Errorf("resumed %v, stored %v: %v", resumed, f.stored["mailboxes"], err)
	}
}

// Nor is it asked again where a request was lost and the lists can't tell.
func TestKeptRefusalOfAnUnknownOutcome(t *testing.T) {
	f := newFakeAPI()
	f.honoursKeys = true
	f.refuses = map[string]answer{"create-mailbox": problem(422, api.TypeValue, "no such domain")}
	var resumed bool
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); StatusOf(err) != 422 {
		t.Fatal(err)
	}
	f.refuses = nil
	f.fail(fault{op: "create-mailbox", dropBefore: true})
	looks := 0
	f.onList = func() {
		if looks++; looks == 2 {
			f.fail(fault{op: "list-mailboxes", status: 403, times: 100})
		}
	}
	_, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed))
	if _, unknown := errors.AsType[*UnknownOutcomeError](err); !unknown || f.count("create-mailbox") != 3 || len(f.stored["mailboxes"]) != 0 {
		t.Errorf("sent %d, stored %v: %v", f.count("create-mailbox"), f.stored["mailboxes"], err)
	}
}

// What a lost refusal was comes under the same key, and is not asked again: that
// of one run is of today, and what costs money is never sent under another key.
func TestRefusalOfThisRunIsNotAskedAgain(t *testing.T) {
	for op, create := range map[string]func(*Client) error{
		"create-mailbox": func(c *Client) error { _, err := c.CreateMailbox(t.Context(), jane); return err },
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

func TestOutage(t *testing.T) {
	f := newFakeAPI()
	c := f.client(t)
	ids := f.add("mailboxes", object{"primary_email": "jane@example.com"})
	ask := func() (requests int, err error) {
		before := len(f.sent())
		_, err = c.GetMailbox(t.Context(), ids[0])
		return len(f.sent()) - before, err
	}
	f.fail(fault{op: "get-mailbox", dropBefore: true, times: 1 + defaultRetryMax + 1})
	if n, err := ask(); err == nil || n != 1+defaultRetryMax {
		t.Errorf("the first call sent %d requests: %v", n, err)
	}
	if n, err := ask(); err == nil || n != 1 {
		t.Errorf("during the outage a call sent %d requests: %v", n, err)
	}
	if n, err := ask(); err != nil || n != 1 {
		t.Errorf("after the outage a call sent %d requests: %v", n, err)
	}
	f.fail(fault{op: "get-mailbox", dropBefore: true})
	if n, err := ask(); err != nil || n != 2 {
		t.Errorf("patience is not back: %d requests, %v", n, err)
	}
}
