package client

import (
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
