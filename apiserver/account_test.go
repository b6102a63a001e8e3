package apiserver_test

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestEnsureAccount(t *testing.T) {
	h := apitest.New(t)
	for _, id := range []string{accountID, "", "{11111111-2222-4333-8444-555555555555}"} {
		got, err := h.Service.EnsureAccount(t.Context(), id)
		assert.Check(t, got == accountID && err == nil, "EnsureAccount(%q) is %q, %v", id, got, err)
	}
	_, err := h.Service.EnsureAccount(t.Context(), "x")
	assert.Check(t, err != nil, "EnsureAccount accepts x")
	_, err = h.Service.EnsureAccount(t.Context(), nobody)
	assert.Check(t, err)
	got, err := h.Service.EnsureAccount(t.Context(), "")
	assert.Check(t, err != nil, "one of two accounts was chosen: %s", got)
}

// TestNotFoundNamesTheKind checks that a 404 names the kind of object in the path.
func TestNotFoundNamesTheKind(t *testing.T) {
	h := apitest.New(t)
	for path, kind := range map[string]string{
		"/credentials/": "master password", "/dedicated-ips/": "dedicated IP", "/domains/": "domain", "/forwarding/": "forwarding rule",
		"/mailboxes/": "mailbox", "/auth/service-accounts/": "service account", "/workspaces/": "workspace",
	} {
		h.Get(path+nobody).Want(404).Is("detail.0.msg", "no such "+kind+" in this account")
	}
	h.Get("/dns-records/1").Want(404).Is("detail.0.msg", "no such DNS record in this account")
	h.Delete("/auth/authorizations/"+nobody).Want(404).Is("detail.0.msg", "no such authorization in this account")
}

// TestCancelPlanReplay checks that a retry of a cancellation gets the original response.
func TestCancelPlanReplay(t *testing.T) {
	h := apitest.New(t)
	first := h.PostKeyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	again := h.PostKeyed(key, "/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	assert.Check(t, again.Replayed() && string(again.Raw) == string(first.Raw), "%s; want a replay of %s", again, first)
	h.PostKeyed(key, "/billing/cancel-plan", obj{}).Refused(422, "header.Idempotency-Key value_error")
	h.PostKeyed(otherKey, "/billing/cancel-plan", obj{"cancel_immediately": true}).Refused(403, "path.account_id account_cancelled")
	h.PostKeyed("x", "/workspaces", obj{"name": "x"}).Want(422)
	h.PostKeyed(otherKey, "/workspaces", obj{"name": "x"}).Refused(403, "path.account_id account_cancelled")
}

func TestCancelPlanInDecember(t *testing.T) {
	h := apitest.New(t)
	h.Clock.Advance(time.Date(2026, 12, 31, 23, 59, 59, 0, time.UTC).Sub(start))
	h.Post("/billing/cancel-plan", obj{}).Want(200).Is("effective_at", "2027-01-01T00:00:00.000000Z")
	h.Get("").Want(200).Is("updated_at", "2026-12-31T23:59:59.000000Z")
}
