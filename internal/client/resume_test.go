package client

import (
	"testing"
	"time"

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
// TestNoResumeOfWhatWasLookedUp loses the response of a create whose object a lookup
// then finds: a later run must not take that object over for another resource.
func TestNoResumeOfWhatWasLookedUp(t *testing.T) {
	f := newFakeAPI()
	f.unique, f.honoursKeys = true, true
	f.fail(fault{op: "create-mailbox", dropAfter: true})
	var resumed bool
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); err != nil || resumed {
		t.Fatalf("resumed %v, got %v", resumed, err)
	}
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); !IsConflict(err) || resumed {
		t.Errorf("resumed %v, got %v", resumed, err)
	}
}

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

// A refusal of an earlier run is not replayed: its reason may be gone.
func TestRefusalOfAnEarlierRun(t *testing.T) {
	f := newFakeAPI()
	f.honoursKeys = true
	f.refuses = map[string]answer{"create-mailbox": problem(422, api.TypeValue, "no such domain")}
	var resumed bool
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); StatusOf(err) != 422 {
		t.Fatal(err)
	}
	f.refuses = nil
	before := f.count("create-mailbox")
	if _, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed)); err != nil || resumed || f.count("create-mailbox") != before+1 {
		t.Errorf("resumed %v, sent %d: %v", resumed, f.count("create-mailbox")-before, err)
	}
}

// After a lost refusal the same key is sent, and nothing under another key:
// neither what costs money nor what does not.
func TestLostRefusalIsRetriedUnderOneKey(t *testing.T) {
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

// The response that an earlier run got is no result of this run's create, which
// comes after the object was deleted, even if it arrives only on a retry.
func TestNoReplayOfWhatIsGone(t *testing.T) {
	for name, dates := range map[string]bool{"with Date headers": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			f.unique, f.honoursKeys, f.undated = true, true, !dates
			var resumed bool
			before, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed))
			if err != nil {
				t.Fatal(err)
			}
			f.stored["mailboxes"] = nil
			f.clock.now = f.clock.now.Add(time.Hour)
			f.fail(fault{op: "create-mailbox", dropAfter: true})
			m, err := f.client(t).CreateMailbox(t.Context(), jane, Resumable(&resumed))
			if err != nil || resumed || m.ID == before.ID || len(f.stored["mailboxes"]) != 1 {
				t.Errorf("got %v, resumed %v, %v; before it was %s", m, resumed, err, before.ID)
			}
		})
	}
}
