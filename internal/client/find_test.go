package client

import (
	"context"
	"errors"
	"maps"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

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
				return idOr(dnsRecordKeys.ID)(c.dnsRecords.one("MX", found, err))
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
