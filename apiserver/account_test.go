package apiserver_test

import (
	"testing"

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
