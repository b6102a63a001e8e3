package apiserver_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestAccount(t *testing.T) {
	h := apitest.New(t)
	workspace := uuid.NewSHA1(uuid.MustParse(accountID), []byte("workspace:default")).String()
	h.Get("").Want(200).Is(
		"id", accountID, "status", "active", "plan_id", "smtp_per_mailbox", "default_workspace_id", workspace,
		"cancels_at", nil, "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z",
	)
	h.Get("/workspaces").Want(200).Is("total", 1, "items.0.id", workspace, "items.0.name", "Default")
	h.Get("/workspaces/"+workspace).Want(200).Is("id", workspace, "name", "Default")
	if got := api.DefaultWorkspaceID(accountID); got != workspace {
		t.Errorf("DefaultWorkspaceID is %s; want %s", got, workspace)
	}
}

func TestEnsureAccount(t *testing.T) {
	h := apitest.New(t)
	for _, id := range []string{accountID, "", "{11111111-2222-4333-8444-555555555555}"} {
		if got, err := h.Service.EnsureAccount(t.Context(), id); got != accountID || err != nil {
			t.Errorf("EnsureAccount(%q) is %q, %v", id, got, err)
		}
	}
	if _, err := h.Service.EnsureAccount(t.Context(), "x"); err == nil {
		t.Error("EnsureAccount accepts x")
	}
	if _, err := h.Service.EnsureAccount(t.Context(), nobody); err != nil {
		t.Error(err)
	}
	if got, err := h.Service.EnsureAccount(t.Context(), ""); err == nil {
		t.Errorf("one of two accounts was chosen: %s", got)
	}
}

func TestWorkspaces(t *testing.T) {
	h := apitest.New(t)
	id := h.Post("/workspaces", obj{"name": "Sales"}).Want(201).Is("name", "Sales").Str("id")
	h.Get("/workspaces/"+id).Want(200).Is("id", id, "name", "Sales")
	h.Post("/workspaces", obj{"name": "Sales"}).Refused(409, "body conflict").Says(id)
	same(t, "workspaces", h.Get("/workspaces").Each("name"), []string{"Default", "Sales"})
	h.Get("/workspaces/"+nobody).Refused(404, "path.workspace_id not_found")

	other := h.Owner(t, nobody)
	other.Get("/workspaces/"+id).Refused(404, "path.workspace_id not_found")
	other.Post("/workspaces", obj{"name": "Sales"}).Want(201)
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
