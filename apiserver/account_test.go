package apiserver_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestAccount(t *testing.T) {
	h := newHarness(t)
	workspace := uuid.NewSHA1(uuid.MustParse(accountID), []byte("workspace:default")).String()
	h.get("").want(200).is(
		"id", accountID, "status", "active", "plan_id", "smtp_per_mailbox", "default_workspace_id", workspace,
		"cancels_at", nil, "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z",
	)
	h.get("/workspaces").want(200).is("total", 1, "items.0.id", workspace, "items.0.name", "Default")
	h.get("/workspaces/"+workspace).want(200).is("id", workspace, "name", "Default")
	if got := api.DefaultWorkspaceID(accountID); got != workspace {
		t.Errorf("DefaultWorkspaceID is %s; want %s", got, workspace)
	}
}

func TestEnsureAccount(t *testing.T) {
	h := newHarness(t)
	for _, id := range []string{accountID, "", "{11111111-2222-4333-8444-555555555555}"} {
		if got, err := h.svc.EnsureAccount(t.Context(), id); got != accountID || err != nil {
			t.Errorf("EnsureAccount(%q) is %q, %v", id, got, err)
		}
	}
	if _, err := h.svc.EnsureAccount(t.Context(), "x"); err == nil {
		t.Error("x is an account id")
	}
	if _, err := h.svc.EnsureAccount(t.Context(), nobody); err != nil {
		t.Error(err)
	}
	if got, err := h.svc.EnsureAccount(t.Context(), ""); err == nil {
		t.Errorf("one of two accounts is taken: %s", got)
	}
}

func TestWorkspaces(t *testing.T) {
	h := newHarness(t)
	id := h.post("/workspaces", obj{"name": "Sales"}).want(201).is("name", "Sales").str("id")
	h.get("/workspaces/"+id).want(200).is("id", id, "name", "Sales")
	h.post("/workspaces", obj{"name": "Sales"}).refused(409, "body conflict").says(id)
	same(t, "workspaces", h.get("/workspaces").each("name"), []string{"Default", "Sales"})
	h.get("/workspaces/"+nobody).refused(404, "path.workspace_id not_found")

	other := h.owner(t, nobody)
	other.get("/workspaces/"+id).refused(404, "path.workspace_id not_found")
	other.post("/workspaces", obj{"name": "Sales"}).want(201)
}
