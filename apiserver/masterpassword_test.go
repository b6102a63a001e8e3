package apiserver_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestMasterPassword(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/credentials", obj{"name": "Main", "value": "s3cret-value"}).Want(201).Is(
		"name", "Main", "scope_type", "account", "scope_id", accountID, "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z")
	generated := h.Post("/credentials", obj{"name": "Other", "generate": true}).Want(201)
	secret := generated.Str("generated_secret")
	if len(secret) < 20 {
		t.Errorf("the generated secret is %q", secret)
	}
	if _, has := a.JSON.(map[string]any)["generated_secret"]; has {
		t.Errorf("a secret was generated without a request: %s", a)
	}
	for _, got := range []*apitest.Response{
		a, h.Get("/credentials"), h.Get("/credentials/" + a.Str("id")), h.Get("/credentials/" + generated.Str("id")), h.Patch("/credentials/"+generated.Str("id"), obj{"name": "x"}),
	} {
		if s := string(got.Raw); strings.Contains(s, "s3cret-value") || strings.Contains(s, secret) || strings.Contains(s, "generated_secret") || strings.Contains(s, "argon2") {
			t.Errorf("the response contains a secret: %s", got)
		}
	}
	second := h.Post("/credentials", obj{"name": "Third", "generate": true}).Want(201).Str("generated_secret")
	if second == secret {
		t.Error("two secrets are the same")
	}
}
