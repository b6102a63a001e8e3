package client

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// TestSharedReads checks for each kind that many reads of a plan share a list, but not the
// reads outside a plan, of an object that the list lacks, after a change, or if the list is
// refused.
func TestSharedReads(t *testing.T) {
	for name, l := range lifecycles {
		for _, refused := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", refused), func(t *testing.T) {
				const n = 60
				f := fakeapi.New()
				var objects []fakeapi.Object
				for i := range n {
					objects = append(objects, fakeapi.Object{"name": fmt.Sprint(i), "primary_email": fmt.Sprintf("m%d@example.com", i)})
				}
				ids := f.Add(l.stored, objects...)
				if refused {
					f.Refuses = map[string]fakeapi.Response{l.list: fakeapi.Problem(403, api.TypePermissionDenied, "no")}
				}
				c := newClient(t, f)
				plan := WithReads(t.Context(), Shared)
				read := func(ctx context.Context, ids []string, gets int) {
					t.Helper()
					before := f.Count(l.get)
					for _, id := range ids {
						got, err := l.doGet(ctx, c, id)
						assert.Check(t, err == nil && got == id, "read of %s: %s, %v", id, got, err)
					}
					if refused {
						gets = len(ids)
					}
					got := f.Count(l.get) - before
					assert.Check(t, got == gets, "%d requests for %d reads, want %d", got, len(ids), gets)
				}
				read(t.Context(), ids, n)
				read(plan, ids, enoughReads-1)
				read(t.Context(), ids[:1], 1)
				read(WithReads(plan, Uncached), ids[:1], 1)
				_, err := l.doGet(plan, c, goneID)
				assert.Check(t, IsNotFound(err), "%v", err)
				read(plan, f.Add(l.stored, fakeapi.Object{"name": "later"}), 1)
				_ = c.Mailboxes.Delete(t.Context(), goneID)
				read(plan, ids[:3], 3) // something of any kind may have changed
			})
		}
	}
}

// TestLongListIsNotShared checks that a plan reads a long list only if it reads a large part
// of the objects.
func TestLongListIsNotShared(t *testing.T) {
	f := withDomains(objectsPerRead*enoughReads + 1)
	c := newClient(t, f)
	find := func(times int) (lists int) {
		before := f.Count("list-domains")
		for range times {
			_, err := c.FindDomain(WithReads(t.Context(), Shared), "d0001.example")
			assert.NilError(t, err)
		}
		return f.Count("list-domains") - before
	}
	if n := find(enoughReads); n != enoughReads+1 { // the searches, and the length of the list
		t.Errorf("%d lists", n)
	}
	assert.Check(t, strings.HasSuffix(pageSizes(f), " 1 1000"), "the length is read with pages of %s", pageSizes(f))
	if n := find(20); n != 6 { // its pages
		t.Errorf("%d lists for more reads", n)
	}
}

// TestUncachedReads checks that without an operation for one object each read requests
// the list.
func TestUncachedReads(t *testing.T) {
	f := fakeapi.New().PublishedOnly(405)
	id := f.Add("mailboxes", fakeapi.Mailbox("jane", "xn--bcher-kva.example"))[0]
	c := newClient(t, f)
	for n, key := range []string{strings.ToUpper(id), "Jane@BÜCHER.example", id} {
		_, err := c.Mailboxes.Get(WithReads(t.Context(), Uncached), key)
		assert.Check(t, err == nil && f.Count("list-mailboxes") == n+1, "%v, %d lists for %d reads", err, f.Count("list-mailboxes"), n+1)
	}
}

// TestCachedListAfterAnUpdate checks that a read returns the new object after an update, even if
// the response was lost; from a new list if the API can't read one object.
func TestCachedListAfterAnUpdate(t *testing.T) {
	for name, fault := range map[string]fakeapi.Fault{
		"response":            {},
		"response without it": {Text: "{}"},
		"unknown outcome":     {DropAfter: true, Times: 99},
	} {
		f := fakeapi.New().PublishedOnly(405)
		id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
		c := newClient(t, f)
		_, err := c.Mailboxes.Get(t.Context(), id)
		assert.NilError(t, err)
		fault.Op = "update-mailbox"
		f.Fail(fault)
		joan := "Joan"
		_, err = c.UpdateMailbox(t.Context(), id, api.UpdateMailboxBody{FirstName: &joan})
		assert.Check(t, (err != nil) == fault.DropAfter, "%s: %v", name, err)
		f.Clock.Advance(time.Minute) // the outage is over
		m, err := c.Mailboxes.Get(t.Context(), id)
		assert.Check(t, err == nil && m.FirstName == joan && f.Count("list-mailboxes") == 2, "%s: %+v, %v with %d lists", name, m, err, f.Count("list-mailboxes"))
	}
}
