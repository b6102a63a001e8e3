package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func withDomains(n int) *fakeapi.API {
	f := fakeapi.New()
	for i := range n {
		f.Add("domains", fakeapi.Object{"name": fmt.Sprintf("d%04d.example", i)})
	}
	return f
}

func domainNames(c *Client, t *testing.T) ([]string, error) {
	var names []string
	for d, err := range c.ListDomains(t.Context(), api.ListDomainsRequest{}) {
		if err != nil {
			return names, err
		}
		names = append(names, d.Name)
	}
	return names, nil
}

// pageSizes returns the page_size of each request.
func pageSizes(f *fakeapi.API) string {
	var sizes []string
	for _, r := range f.Requests {
		sizes = append(sizes, r.Query.Get("page_size"))
	}
	return strings.Join(sizes, " ")
}

func TestAuthorizations(t *testing.T) {
	f := fakeapi.New()
	f.Add("auth/authorizations", fakeapi.Object{"grant_kind": "account_owner"}, fakeapi.Object{"grant_kind": "super_admin"})
	c := newClient(t, f)
	all := func(req api.ListAuthorizationsRequest) ([]api.Authorization, error) {
		return filter(c.ListAuthorizations(t.Context(), req), func(*api.Authorization) bool { return true })
	}
	list, err := all(api.ListAuthorizationsRequest{IncludeRevoked: true})
	assert.Check(t, err == nil && len(list) == 2, "%v, %v", list, err)
	if got := f.Requests[0].Query.Encode(); got != "include_revoked=true" {
		t.Error(got)
	}
	f.Add("workspaces", fakeapi.Object{"name": "Sales"})
	found, err := filter(c.ListWorkspaces(t.Context()), func(w *api.Workspace) bool { return w.ID != "" })
	assert.Check(t, err == nil && len(found) == 1, "workspaces %v, %v", found, err)
	f.Fail(fakeapi.Fault{Op: "list-authorizations", Text: "null"})
	list, err = all(api.ListAuthorizationsRequest{})
	assert.Check(t, err == nil && len(list) == 0, "null: %v, %v", list, err)
	f.Fail(fakeapi.Fault{Op: "list-authorizations", Text: "{}"})
	_, err = all(api.ListAuthorizationsRequest{})
	assert.Check(t, err != nil, "{} is no list")
}

// TestPageSizeIsRemembered checks that a refused page size is not requested again.
func TestPageSizeIsRemembered(t *testing.T) {
	f := withDomains(1)
	f.RejectsSize = 500
	c := newClient(t, f)
	for range 3 {
		_, err := domainNames(c, t)
		assert.NilError(t, err)
	}
	assert.Check(t, is.Equal(f.Count("list-domains"), 4), "requests")
}

const domainUUID = "11111111-0000-4000-8000-00000000000a"

func TestFind(t *testing.T) {
	domain := fakeapi.Object{"id": domainUUID, "name": "xn--bcher-kva.example"}
	for _, tc := range []struct {
		name, stored string
		objects      []fakeapi.Object // the first is the one to find
		find         func(context.Context, *Client) (string, error)
		search       string
	}{
		{"mailbox", "mailboxes",
			[]fakeapi.Object{fakeapi.Mailbox("jane", "example.com"), fakeapi.Mailbox("mary.jane", "example.com"), fakeapi.Mailbox("jane", "example.com.de")},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(mailboxKeys.ID)(c.FindMailbox(ctx, "JANE@Example.COM"))
			}, "jane@example.com"},
		{"domain", "domains", []fakeapi.Object{domain, {"name": "my-xn--bcher-kva.example"}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(domainKeys.ID)(c.FindDomain(ctx, "Bücher.example."))
			}, "xn--bcher-kva.example"},
		{"master password of the account", "credentials",
			[]fakeapi.Object{{"name": "ops", "scope_type": "account", "scope_id": fakeapi.AccountID}, {"name": "ops", "scope_type": "workspace", "scope_id": "w"}, {"name": "ops2", "scope_type": "account"}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(masterPasswordKeys.ID)(c.FindMasterPassword(ctx, "ops", Scope{}))
			}, "ops"},
		{"master password of a workspace", "credentials",
			[]fakeapi.Object{{"name": "ops", "scope_type": "workspace", "scope_id": "w"}, {"name": "ops", "scope_type": "workspace", "scope_id": "v"}, {"name": "ops", "scope_type": "account"}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(masterPasswordKeys.ID)(c.FindMasterPassword(ctx, "ops", Scope{WorkspaceID: "W"}))
			}, "ops"},
		{"forwarding of a domain, by name", "forwarding",
			[]fakeapi.Object{{"target_email": "a@b.example", "scope_type": "domain", "scope_id": domainUUID}, {"target_email": "a@b.example", "scope_type": "domain", "scope_id": "other"},
				{"target_email": "aa@b.example", "scope_type": "domain", "scope_id": domainUUID}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(forwardingKeys.ID)(c.FindForwarding(ctx, "A@B.example", Scope{Domain: "bücher.example"}))
			}, "a@b.example"},
		{"dns record", "dns-records",
			[]fakeapi.Object{
				{"type": "MX", "name": "@", "value": "mx.example.com", "priority": 10},
				{"type": "MX", "name": "@", "value": "mx2.example.com", "priority": 10},
				{"type": "MX", "name": "www", "value": "mx.example.com", "priority": 10},
				{"type": "NS", "name": "@", "value": "mx.example.com"},
			},
			func(ctx context.Context, c *Client) (string, error) {
				found, err := c.FindDNSRecords(ctx, domainUUID, "MX", "bücher.example.", "MX.example.com.")
				return idOr(dnsRecordKeys.ID)(c.DNSRecords.one("MX", found, err))
			}, ""},
		{"service account", "auth/service-accounts", []fakeapi.Object{{"name": "ci"}, {"name": "ci", "revoked_at": "2026-01-01T00:00:00Z"}, {"name": "CI"}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(serviceAccountKeys.ID)(c.FindServiceAccount(ctx, "ci"))
			}, ""},
		{"dedicated ip by address", "dedicated-ips",
			[]fakeapi.Object{{"name": "a", "ip_addresses": []fakeapi.Object{{"ip": "2001:db8::1"}}}, {"name": "b", "ip_addresses": []fakeapi.Object{{"ip": "2001:db8::2"}}}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(dedicatedIPKeys.ID)(c.FindDedicatedIP(ctx, "2001:DB8:0::1"))
			}, ""},
		{"dedicated ip by name", "dedicated-ips", []fakeapi.Object{{"name": "a"}, {"name": "b"}},
			func(ctx context.Context, c *Client) (string, error) {
				return idOr(dedicatedIPKeys.ID)(c.FindDedicatedIP(ctx, "a"))
			}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New()
			if tc.stored != "domains" {
				f.Add("domains", fakeapi.Object{"id": domainUUID, "name": "xn--bcher-kva.example"})
			}
			ids := f.Add(tc.stored, tc.objects...)
			f.Without["get-domain"] = tc.stored == "forwarding" // names are then resolved with the list
			c := newClient(t, f)
			if id, err := tc.find(t.Context(), c); err != nil || id != ids[0] {
				t.Errorf("found %s, %v", id, err)
			}
			assert.Check(t, is.Equal(f.Requests[len(f.Requests)-1].Query.Get("search"), tc.search), "searched for")
			first := fakeapi.Object{}
			maps.Copy(first, tc.objects[0])
			delete(first, "id")
			twin := f.Add(tc.stored, first)
			_, err := tc.find(t.Context(), c)
			ambiguous, _ := errors.AsType[*AmbiguousError](err)
			assert.Check(t, ambiguous != nil && len(ambiguous.IDs) == 2 && ambiguous.IDs[0] == ids[0] && ambiguous.IDs[1] == twin[0], "of two: %v", err)
			f.Stored[tc.stored] = f.Stored[tc.stored][1:2]
			_, err = tc.find(t.Context(), c)
			assert.Check(t, IsNotFound(err), "of none: %v", err)
		})
	}
}

func TestFindWhereThereIsNoList(t *testing.T) {
	f := fakeapi.New().PublishedOnly(405)
	c := newClient(t, f)
	for range 2 {
		_, err := c.FindServiceAccount(t.Context(), "ci")
		assert.Check(t, errors.Is(err, ErrReadUnsupported), "%v", err)
		_, err = c.FindDNSRecords(t.Context(), "example.com", "A", "@", "")
		assert.Check(t, errors.Is(err, ErrReadUnsupported), "%v", err)
	}
	if n := len(f.Sent()); n != 3 { // one of them is the probe of the API
		t.Errorf("%d requests", n)
	}
}

func TestFindOfAListThatFails(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "list-mailboxes", Status: 404})
	_, err := newClient(t, f).FindMailbox(t.Context(), "a@b.example")
	assert.Check(t, err != nil && !IsNotFound(err), "%v", err)
}

func TestDNSRecordLookupComparesPriority(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-dns-record", DropBefore: true})
	f.Add("dns-records", fakeapi.Object{"type": "MX", "name": "@", "value": "mx.example.com", "priority": 10})
	prio := int64(20)
	r, err := newClient(t, f).CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Type: "MX", Name: "@", Value: "mx.example.com", Prio: &prio})
	assert.Check(t, err == nil && *r.Priority == 20 && f.Count("create-dns-record") == 2, "%+v, %v after %v", r, err, f.Sent())
}
