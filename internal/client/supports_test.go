package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// collection names the operations that list, read and delete the objects of one kind.
type collection struct {
	kind      api.Kind
	stored    string
	list, get string // operation ids
	remove    api.Spec
	published bool // the list is a published operation
}

func collectionOf(kind api.Kind) collection {
	k := sample.Of(kind)
	all := collection{kind: kind, stored: strings.TrimPrefix(k.Collection(), "/")}
	for _, op := range k.Operations() {
		switch isOfOne := strings.HasSuffix(op.Path, "{"+k.Parameter+"}"); {
		case op.Method == http.MethodGet && isOfOne:
			all.get = op.ID
		case op.Method == http.MethodGet && strings.HasSuffix(op.Path, k.Collection()):
			all.list, all.published = op.ID, !op.Lifecycle()
		case op.Method == http.MethodDelete && isOfOne:
			all.remove = op
		}
	}
	return all
}

// lifecycle reads and deletes the objects of one kind.
type lifecycle struct {
	collection
	doGet    func(context.Context, *Client, string) (string, error)
	doDelete func(context.Context, *Client, string) error
}

var lifecycles = map[string]lifecycle{
	"mailbox":         lifecycleOf(api.GetMailbox.Kind, func(c *Client) *Objects[api.Mailbox] { return c.Mailboxes }),
	"domain":          lifecycleOf(api.GetDomain.Kind, func(c *Client) *Objects[api.Domain] { return c.Domains }),
	"forwarding":      lifecycleOf(api.GetForwarding.Kind, func(c *Client) *Objects[api.Forwarding] { return c.Forwarding }),
	"master password": lifecycleOf(api.GetMasterPassword.Kind, func(c *Client) *Objects[api.MasterPassword] { return c.MasterPasswords }),
	"dedicated ip":    lifecycleOf(api.GetDedicatedIP.Kind, func(c *Client) *Objects[api.DedicatedIP] { return c.DedicatedIPs }),
	"service account": lifecycleOf(api.GetServiceAccount.Kind, func(c *Client) *Objects[api.ServiceAccount] { return c.ServiceAccounts }),
	"dns record":      lifecycleOf(api.GetDNSRecord.Kind, func(c *Client) *Objects[api.DNSRecord] { return c.DNSRecords }),
}

func lifecycleOf[T any](of api.Kind, kind func(*Client) *Objects[T]) lifecycle {
	return lifecycle{
		collectionOf(of),
		func(ctx context.Context, c *Client, key string) (string, error) {
			return idOr(kind(c).cache.ID)(kind(c).Get(ctx, key))
		},
		func(ctx context.Context, c *Client, key string) error { return kind(c).Delete(ctx, key) },
	}
}

const goneID = "999999"

func TestReadsAndDeletes(t *testing.T) {
	for tag := range newClient(t, fakeapi.New()).supports {
		isListed := slices.ContainsFunc(slices.Collect(maps.Values(lifecycles)), func(l lifecycle) bool { return l.kind.Tag == tag })
		assert.Check(t, isListed, "%s have no row in lifecycles (supports_test.go)", tag)
	}
	for name, l := range lifecycles {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			ids := f.Add(l.stored, fakeapi.Object{"name": "a"}, fakeapi.Object{"name": "b"})
			c := newClient(t, f)
			id, err := l.doGet(t.Context(), c, ids[0])
			assert.Check(t, err == nil && id == ids[0], "get: %s, %v", id, err)
			// The operation is known to exist, so that a 404 needs no list.
			_, err = l.doGet(t.Context(), c, goneID)
			assert.Check(t, IsNotFound(err), "get of a missing object: %v", err)
			err = l.doDelete(t.Context(), c, ids[0])
			assert.Check(t, err == nil && len(f.Stored[l.stored]) == 1, "delete: %v", err)
			err = l.doDelete(t.Context(), c, ids[0])
			assert.Check(t, IsNotFound(err) && !IsUnsupported(err), "delete of a missing object: %v", err)
			assert.Check(t, is.Equal(f.Count(l.list), 0), "lists")
			f.Fail(fakeapi.Fault{Op: l.remove.ID, DropAfter: true})
			assert.Check(t, l.doDelete(t.Context(), c, ids[1]), "delete, and its response is lost")
		})
	}
}

// TestPublishedOperationsOnly checks that without lifecycle operations all reads share one
// list, and a delete returns ErrDeleteUnsupported.
func TestPublishedOperationsOnly(t *testing.T) {
	for name, l := range lifecycles {
		for _, status := range []int{404, 405, 501} {
			t.Run(fmt.Sprint(name, "/", status), func(t *testing.T) {
				f := fakeapi.New().PublishedOnly(status)
				var objects []fakeapi.Object
				for i := range 30 {
					objects = append(objects, fakeapi.Object{"name": fmt.Sprint(i), "primary_email": fmt.Sprintf("m%d@example.com", i)})
				}
				ids := f.Add(l.stored, objects...)
				c := newClient(t, f)
				for _, id := range ids {
					err := l.doDelete(t.Context(), c, id)
					assert.Assert(t, errors.Is(err, ErrDeleteUnsupported) && IsUnsupported(err) && !IsNotFound(err), "delete: %v", err)
				}
				assert.Check(t, is.Equal(f.Count(l.remove.ID), 1), "attempts to delete")
				var wg sync.WaitGroup
				for _, want := range ids {
					wg.Go(func() {
						id, err := l.doGet(t.Context(), c, want)
						if l.published && (err != nil || id != want) || !l.published && !errors.Is(err, ErrReadUnsupported) {
							t.Errorf("get: %s, %v", id, err)
						}
					})
				}
				wg.Wait()
				gets := f.Count(l.get)
				_, err := l.doGet(t.Context(), c, goneID)
				assert.Check(t, l.published == IsNotFound(err) && f.Count(l.get) == gets, "get of a missing object: %v", err)
				if n := f.Count(l.list); n > 3 { // the first 404 of a delete and of a read are checked in a new list
					t.Errorf("%d lists for %d reads", n, len(ids))
				}
			})
		}
	}
}

// TestGenuine404BeforeAnySuccess checks that the 404s of an operation that has never
// succeeded are checked in one shared list.
func TestGenuine404BeforeAnySuccess(t *testing.T) {
	for name, l := range lifecycles {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			id := f.Add(l.stored, fakeapi.Object{"name": "a"})[0]
			c := newClient(t, f)
			for range 5 {
				err := l.doDelete(t.Context(), c, goneID)
				assert.Check(t, IsNotFound(err), "delete: %v", err)
				_, err = l.doGet(t.Context(), c, goneID)
				assert.Check(t, IsNotFound(err), "get: %v", err)
			}
			assert.Check(t, is.Equal(f.Count(l.list), 1), "lists")
			assert.Check(t, l.doDelete(t.Context(), c, id), "the operation counts as missing")
		})
	}
}

// TestSupports checks that at most one read is needed, for any number of objects.
func TestSupports(t *testing.T) {
	operations := map[string]api.Spec{"forwarding/": api.SetForwardingActive.Spec, "dns record/": api.UpdateDNSRecord.Spec}
	for name, l := range lifecycles {
		operations[name] = l.remove
	}
	for name, op := range operations {
		l := lifecycles[strings.TrimSuffix(name, "/")] // another operation of the type
		for status, want := range map[int]bool{0: true, 404: false, 405: false, 501: false} {
			t.Run(fmt.Sprint(name, "/", status), func(t *testing.T) {
				f := fakeapi.New()
				if status != 0 {
					f.PublishedOnly(status)
				}
				ids := f.Add(l.stored, fakeapi.Object{"name": "a", "primary_email": "a@example.com"}, fakeapi.Object{"name": "b", "primary_email": "b@example.com"})
				c := newClient(t, f)
				for _, id := range ids {
					got := c.Supports(t.Context(), op, id)
					assert.Check(t, got == want, "%s: %v", id, got)
				}
				assert.Check(t, is.Equal(f.Count(l.get), 1), "reads")
			})
		}
	}
}

// TestSupportsReadsOnce checks that a failed read is not repeated, neither for other
// objects nor for callers that wait for it. A deleted object is not a failure.
func TestSupportsReadsOnce(t *testing.T) {
	for status, reads := range map[int]int{http.StatusForbidden: 1, http.StatusOK: 1, http.StatusNotFound: 20} {
		f := fakeapi.New()
		id := goneID
		if status == http.StatusOK {
			id = f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
		}
		if status == http.StatusForbidden {
			f.Fail(fakeapi.Fault{Op: "get-mailbox", Status: status, Times: 99})
		}
		c := newClient(t, f)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				assert.Check(t, c.Supports(t.Context(), api.DeleteMailbox.Spec, id), "%d: the operation counts as missing", status)
			})
		}
		wg.Wait()
		assert.Check(t, is.Equal(f.Count("get-mailbox"), reads), "%d", status)
	}
}

// TestSupportsAfterAnInterruption checks that an interrupted read is repeated, and that none is
// needed for an operation that is known.
func TestSupportsAfterAnInterruption(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 503})
	ctx, cancel := context.WithCancel(t.Context())
	f.Clock.OnSleep = cancel
	c := newClient(t, f)
	assert.Check(t, c.Supports(ctx, api.DeleteMailbox.Spec, goneID) && c.Supports(t.Context(), api.DeleteMailbox.Spec, goneID) && f.Count("get-mailbox") == 2, "sent %v", f.Sent())
	c = newClient(t, f)
	c.operation(api.DeleteMailbox.Spec).present.Store(true)
	assert.Check(t, c.Supports(t.Context(), api.DeleteMailbox.Spec, goneID) && f.Count("get-mailbox") == 2, "sent %v", f.Sent())
}

// TestStaleListIsNoProof checks that a list from before the deletion of an object does not
// prove that the operation is missing.
func TestStaleListIsNoProof(t *testing.T) {
	f := fakeapi.New()
	id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
	c := newClient(t, f)
	if _, err := c.Mailboxes.Get(t.Context(), goneID); !IsNotFound(err) { // fills the cache
		t.Fatal(err)
	}
	f.Stored["mailboxes"] = nil
	_, err := c.Mailboxes.Get(t.Context(), id)
	assert.Check(t, IsNotFound(err) && !c.operation(api.GetMailbox.Spec).isAbsent(), "%v", err)
}

// TestListFailsDuringTheCheck checks that a failing list does not make an object look
// deleted.
func TestListFailsDuringTheCheck(t *testing.T) {
	for _, status := range []int{404, 403} {
		f := fakeapi.New().PublishedOnly(404).Fail(fakeapi.Fault{Op: "list-mailboxes", Status: status, Times: 9})
		c := newClient(t, f)
		_, err := c.Mailboxes.Get(t.Context(), goneID)
		assert.Check(t, err != nil && !IsNotFound(err) && !IsUnsupported(err), "get, list %d: %v", status, err)
		err = c.Mailboxes.Delete(t.Context(), goneID)
		assert.Check(t, err != nil && !IsNotFound(err) && !IsUnsupported(err), "delete, list %d: %v", status, err)
	}
}

// TestNotFoundOfAProxy checks that the 404 page of a proxy does not count as a response of the
// API, even if the operation exists.
func TestNotFoundOfAProxy(t *testing.T) {
	f := fakeapi.New()
	id := f.Add("mailboxes", fakeapi.Mailbox("jane", "example.com"))[0]
	c := newClient(t, f)
	_, err := c.Mailboxes.Get(t.Context(), id)
	assert.NilError(t, err)
	f.Fail(fakeapi.Fault{Op: "get-mailbox", Status: 404, Text: "<html>no such page"})
	m, err := c.Mailboxes.Get(t.Context(), id)
	assert.Check(t, err == nil && m.ID == id, "%+v, %v", m, err)
	f.Fail(fakeapi.Fault{Op: "get-mailbox", Status: 404, Text: "<html>no such page"})
	_, err = c.Mailboxes.Get(t.Context(), goneID)
	assert.Check(t, IsNotFound(err), "the list has no such mailbox: %v", err)
	c.operation(api.DeleteMailbox.Spec).present.Store(true)
	f.Fail(fakeapi.Fault{Op: "delete-mailbox", Status: 404, Text: "<html>no such page"})
	err = c.Mailboxes.Delete(t.Context(), id)
	assert.Check(t, err != nil && !IsNotFound(err) && !IsUnsupported(err) && strings.Contains(err.Error(), "still there"), "%v", err)
}

func TestAbsentChanges(t *testing.T) {
	for _, status := range []int{404, 405} {
		f := fakeapi.New().PublishedOnly(status)
		id := f.Add("forwarding", fakeapi.Object{"target_email": "a@b.example"})[0]
		c := newClient(t, f)
		for range 3 {
			_, err := c.SetForwardingActive(t.Context(), id, true)
			assert.Check(t, errors.Is(err, ErrUpdateUnsupported), "%v", err)
			_, err = c.GetAccount(t.Context())
			assert.Check(t, errors.Is(err, ErrReadUnsupported), "%v", err)
			_, err = c.DomainAvailability(t.Context(), "example.com")
			assert.Check(t, errors.Is(err, ErrReadUnsupported), "%v", err)
			err = createWorkspace(t.Context(), c)
			assert.Check(t, errors.Is(err, ErrCreateUnsupported) && IsUnsupported(err), "%v", err)
		}
		for _, op := range []string{"set-forwarding-active", "get-account", "check-domain-availability", "create-workspace"} {
			n := f.Count(op)
			assert.Check(t, n == 1, "%d attempts of %s", n, op)
		}
	}
}

// createWorkspace creates an object with an operation that is not published.
func createWorkspace(ctx context.Context, c *Client) error {
	_, _, err := create(ctx, c, api.CreateWorkspace, &api.KeyedRequest[api.CreateWorkspaceBody]{Body: api.CreateWorkspaceBody{Name: "Sales"}}, createSpec[api.Workspace]{object: "Sales"})
	return err
}

// TestMaybeCreated checks that a create with unknown outcome is not called unsupported: its resent
// request may have reached another server.
func TestMaybeCreated(t *testing.T) {
	f := fakeapi.New()
	f.Fail(fakeapi.Fault{Op: "create-workspace", DropAfter: true}, fakeapi.Fault{Op: "create-workspace", Status: 404})
	err := createWorkspace(t.Context(), newClient(t, f))
	_, isUnknown := errors.AsType[*UnknownOutcomeError](err)
	assert.Check(t, isUnknown && !IsUnsupported(err), "%v", err)
}

func TestNoID(t *testing.T) {
	f := fakeapi.New()
	c := newClient(t, f)
	for _, id := range []string{"", ".", ".."} {
		_, err := c.Mailboxes.Get(t.Context(), id)
		assert.Check(t, err != nil, "get %q", id)
		err = c.Mailboxes.Delete(t.Context(), id)
		assert.Check(t, err != nil, "delete %q", id)
	}
	_, err := c.DNSRecords.Get(t.Context(), "0")
	assert.Check(t, err != nil, "get record 0")
	assert.Check(t, c.DNSRecords.Delete(t.Context(), "9223372036854775808") != nil, "delete a record whose id is too great")
	assert.Check(t, len(f.Sent()) == 0, "sent %v", f.Sent())
	f.Fail(fakeapi.Fault{Op: "get-dns-record", Status: 200, Text: `{"id":0}`}, fakeapi.Fault{Op: "get-account", Status: 200, Text: "{}"})
	for what, err := range map[string]error{"a record": second(c.DNSRecords.Get(t.Context(), "1")), "the account": second(c.GetAccount(t.Context()))} {
		assert.Check(t, err != nil, "%s without an id", what)
	}
}

// TestWrongBaseURL checks that 404s for every request, as at a wrong base URL, prove
// nothing: no object may be removed from the state.
func TestWrongBaseURL(t *testing.T) {
	for name, status := range map[string]int{"404": 404, "405": 405, "501": 501} {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			f.LackStatus = status
			for _, spec := range api.Specs() {
				f.Without[spec.ID] = true
			}
			c := newClient(t, f)
			for what, err := range map[string]error{
				"read a record":   second(c.DNSRecords.Get(t.Context(), "1")),
				"read an account": second(c.ServiceAccounts.Get(t.Context(), "00000000-0000-4000-8000-000000000001")),
				"the account":     second(c.GetAccount(t.Context())),
				"create":          createWorkspace(t.Context(), c),
				"delete":          c.DNSRecords.Delete(t.Context(), "1"),
				"revoke":          c.ServiceAccounts.Delete(t.Context(), "00000000-0000-4000-8000-000000000001"),
			} {
				assert.Check(t, err != nil && !IsUnsupported(err) && !IsNotFound(err) && errors.Is(err, ErrNoAPI), "%s: got %v", what, err)
			}
		})
	}
}

// TestCaller checks Caller on an API without the operation: a 403 of the API itself is no error,
// because it may mean a missing capability, but a proxy's page is an error.
func TestCaller(t *testing.T) {
	f := fakeapi.New()
	f.Refuses = map[string]fakeapi.Response{"get-caller": {Status: 200, Body: fakeapi.Object{"id": "me"}}}
	caller, err := newClient(t, f).Caller(t.Context())
	assert.Check(t, err == nil && caller != nil, "%v", err)
	f = fakeapi.New().PublishedOnly(405)
	c := newClient(t, f)
	for _, fault := range []fakeapi.Fault{{Status: 403, Text: "<html>"}, {}, {Status: 403, Text: "<html>"}, {Status: 403, Text: `{"detail":[{"msg":"no"}]}`}, {Status: 401, Text: `{"detail":[{"msg":"no"}]}`}} {
		fault.Op, fault.Times = "list-domains", 2
		if f.Faults = nil; fault.Status != 0 {
			f.Fail(fault)
		}
		caller, err := c.Caller(t.Context())
		isFine := fault.Status == 0 || fault.Status == 403 && fault.Text[0] == '{'
		assert.Check(t, caller == nil && (err == nil) == isFine, "%+v: %+v, %v", fault, caller, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestRevokeAuthorization revokes a grant whose response is lost, one that is gone, and one on an API
// without the operation, whose 404 must not count as success.
func TestRevokeAuthorization(t *testing.T) {
	const op = "revoke-authorization"
	f := fakeapi.New()
	ids := f.Add("auth/authorizations", fakeapi.Object{"grant_kind": "capability"}, fakeapi.Object{"grant_kind": "account_owner"})
	f.Fail(fakeapi.Fault{Op: op, DropAfter: true})
	c := newClient(t, f)
	assert.NilError(t, c.RevokeAuthorization(t.Context(), ids[0]), "its response is lost")
	assert.NilError(t, c.RevokeAuthorization(t.Context(), ids[0]), "it is gone")
	assert.NilError(t, c.RevokeAuthorization(t.Context(), ids[1]), "the operation counts as missing")
	assert.Check(t, is.Equal(len(f.Stored["auth/authorizations"]), 0))
	for _, status := range []int{404, 405, 501} {
		f := fakeapi.New().PublishedOnly(status)
		id := f.Add("auth/authorizations", fakeapi.Object{"grant_kind": "capability"})[0]
		c := newClient(t, f)
		for range 2 {
			err := c.RevokeAuthorization(t.Context(), id)
			assert.Check(t, errors.Is(err, ErrDeleteUnsupported) && !IsNotFound(err), "%d: %v", status, err)
		}
		assert.Check(t, is.Equal(f.Count(op), 1), "attempts")
	}
}
