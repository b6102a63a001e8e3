package client

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// TestSharedReads checks for each kind that the reads of a refresh share a list, that
// other reads and those after a change do not, and that an API without lifecycle
// operations serves them too.
func TestSharedReads(t *testing.T) {
	const n = 60
	for name, l := range lifecycles {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			var objects []fakeapi.Object
			for i := range n {
				objects = append(objects, fakeapi.Object{"name": fmt.Sprint(i), "primary_email": fmt.Sprintf("m%d@example.com", i)})
			}
			ids := f.Add(l.stored, objects...)
			c := newClient(t, f)
			single := func() context.Context { return t.Context() }
			refresh := func() context.Context { return WithSharedReads(t.Context(), "resource", "example.com") }
			refer := func() context.Context { return WithSharedReads(t.Context(), "", "example.com") }
			uncached := func() context.Context { return WithUncachedReads(refresh()) }
			read := func(ctx func() context.Context, ids []string, gets, lists int) {
				t.Helper()
				gets, lists = gets+f.Count(l.get), lists+f.Count(l.list)
				for _, id := range ids {
					if got, err := l.doGet(ctx(), c, id); err != nil || got != id {
						t.Errorf("read of %s: %s, %v", id, got, err)
					}
				}
				if g, l := f.Count(l.get), f.Count(l.list); g != gets || l != lists {
					t.Errorf("%d reads and %d lists so far, want %d and %d", g, l, gets, lists)
				}
			}
			read(single, ids, n, 0)
			read(refresh, ids[:1], 1, 0)
			read(refresh, ids, 49, 1) // the first one is read again
			read(refer, ids, 0, 0)
			read(single, ids[:1], 1, 0)
			read(uncached, ids[:1], 1, 0)
			shared := f.Requests
			if err := c.DeleteMailbox(t.Context(), goneID); !IsNotFound(err) {
				t.Errorf("delete: %v", err)
			}
			read(refresh, ids[:3], 3, 0) // something of any kind may have changed
			inDomain := map[bool]string{true: "example.com"}[slices.Contains([]string{"mailbox", "forwarding", "master password", "dns record"}, name)]
			for _, r := range shared {
				if domain := r.Query.Get("domain"); r.Op == l.list && domain != inDomain {
					t.Errorf("list of the domain %q, want %q", domain, inDomain)
				}
			}
		})
	}
}

// TestSharedReadsOfUnknownOutcome checks that nothing is shared after a change whose
// outcome is unknown, because it may still take effect.
func TestSharedReadsOfUnknownOutcome(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "delete-mailbox", DropAfter: true})
	ids := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"), fakeapi.Mailbox("joe", "example.com"))
	c := newClient(t, f)
	if err := c.DeleteMailbox(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	gets := f.Count("get-mailbox")
	for range 100 {
		if _, err := c.GetMailbox(WithSharedReads(t.Context(), "", ""), ids[1]); err != nil {
			t.Error(err)
		}
	}
	if n := f.Count("get-mailbox") - gets; n != 100 {
		t.Errorf("%d requests for 100 reads", n)
	}
}

// TestUncachedReads checks that without an operation for one object each read requests
// the list.
func TestUncachedReads(t *testing.T) {
	f := fakeapi.New().PublishedOnly(405)
	id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
	c := newClient(t, f)
	for n := range 3 {
		if _, err := c.GetMailbox(WithUncachedReads(t.Context()), id); err != nil || f.Count("list-mailboxes") != n+1 {
			t.Errorf("%v, %d lists for %d reads", err, f.Count("list-mailboxes"), n+1)
		}
	}
}

// TestSharedFind checks that lookups by natural key share a list with reads.
func TestSharedFind(t *testing.T) {
	f := fakeapi.New()
	for i := range 60 {
		f.Add("mailboxes", fakeapi.Mailbox(fmt.Sprintf("m%d", i), "example.com"))
	}
	c := newClient(t, f)
	lookup := func() context.Context { return WithSharedReads(t.Context(), "import", "") }
	for i := range 60 {
		m, err := c.FindMailbox(lookup(), fmt.Sprintf("M%d@Example.com", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetMailbox(WithSharedReads(t.Context(), "resource", m.DomainID), m.ID); err != nil {
			t.Error(err)
		}
	}
	if n := len(f.Sent()); n > 55 {
		t.Errorf("%d requests for 60 lookups and as many reads", n)
	}
	if _, err := c.FindMailbox(lookup(), "nobody@example.com"); !IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// TestCachedListAfterAnUpdate checks what a read returns after an update, if an API can't read
// one object: the new object from the cached list or, if the response does not have it or
// never came, from a new list.
func TestCachedListAfterAnUpdate(t *testing.T) {
	for name, tc := range map[string]struct {
		fault fakeapi.Fault
		lists int
	}{
		"response":            {fakeapi.Fault{}, 1},
		"response without it": {fakeapi.Fault{Text: "{}"}, 2},
		"unknown outcome":     {fakeapi.Fault{DropAfter: true, Times: 99}, 2},
	} {
		f := fakeapi.New().PublishedOnly(405)
		id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
		c := newClient(t, f)
		if _, err := c.GetMailbox(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		tc.fault.Op = "update-mailbox"
		f.Fail(tc.fault)
		joan := "Joan"
		if _, err := c.UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &joan}); (err != nil) != tc.fault.DropAfter {
			t.Errorf("%s: %v", name, err)
		}
		f.Clock.Advance(time.Minute) // the outage is over
		if m, err := c.GetMailbox(t.Context(), id); err != nil || m.FirstName != joan || f.Count("list-mailboxes") != tc.lists {
			t.Errorf("%s: %+v, %v with %d lists", name, m, err, f.Count("list-mailboxes"))
		}
	}
}

// TestAPITime checks that the API's time is known from its first response, whatever the
// client's clock.
func TestAPITime(t *testing.T) {
	f := fakeapi.New()
	c := newClient(t, f, func(o *Options) { o.Hooks.Now = func() time.Time { return f.Clock.Now().Add(5 * time.Hour) } })
	if at := c.APITime(); !at.IsZero() {
		t.Errorf("%s before any response", at)
	}
	_, _ = c.GetMailbox(t.Context(), "m")
	if at := c.APITime(); !at.Equal(f.Clock.Now().Add(-clockSlack)) {
		t.Errorf("%s at %s", at, f.Clock.Now())
	}
}
