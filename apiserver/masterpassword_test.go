package apiserver_test

import (
	"strings"
	"testing"
	"time"

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

func TestMasterPasswordSecretRules(t *testing.T) {
	h := apitest.New(t)
	for _, tt := range []struct {
		body obj
		want string
	}{
		{obj{}, "body.value value_error"},
		{obj{"generate": false, "value": nil}, "body.value value_error"},
		{obj{"generate": true, "value": "abcd"}, "body.value value_error"},
		{obj{"value": "abc"}, "body.value string_too_short"},
		{obj{"value": strings.Repeat("x", 257)}, "body.value string_too_long"},
		{obj{"value": 1234}, "body.value string_type"},
	} {
		h.Post("/credentials", with(obj{"name": "n"}, flat(tt.body)...)).Refused(422, tt.want)
	}
	for i, value := range []string{"abcd", strings.Repeat("ü", 256), "pässwörd", "    "} {
		h.Post("/credentials", obj{"name": itoa(i), "value": value, "generate": false}).Want(201)
	}
	h.Post("/credentials", obj{"name": "n", "generate": true, "value": nil}).Want(201)
}

func TestMasterPasswordScopes(t *testing.T) {
	h := apitest.New(t)
	domain, workspace := h.Domain("example.com"), h.Workspace("Sales")
	ids := map[string]string{}
	for _, tt := range []struct {
		scope   obj
		typ, id string
	}{
		{obj{}, "account", accountID},
		{obj{"workspace_id": workspace}, "workspace", workspace},
		{obj{"domain": "EXAMPLE.com"}, "domain", domain},
	} {
		body := with(tt.scope, "name", "Same", "generate", true)
		ids[tt.typ] = h.Post("/credentials", body).Want(201).Is("scope_type", tt.typ, "scope_id", tt.id).Str("id")
		h.Post("/credentials", body).Refused(409, "body conflict").Says(ids[tt.typ])
		h.Post("/credentials", with(body, "name", "Another")).Want(201)
		h.Patch("/credentials/"+ids[tt.typ], obj{"name": "Another"}).Refused(409, "body conflict")
	}
	for query, want := range map[string]string{
		"search=SAME": "account workspace domain", "search=same&scope_type=account": "account", "search=same&domain=example.com": "domain", "search=same&domain=" + domain: "domain",
		"search=same&workspace_id=" + workspace: "workspace", "scope_type=domain&workspace_id=" + workspace: "", "domain=nowhere.com": "", "search=nothing": "", "scope_type=domain": "domain domain",
	} {
		checkList(h, "/credentials", query, "scope_type", want)
	}
	body := obj{"name": "n", "generate": true}
	h.Post("/credentials", with(body, "domain", "example.com", "workspace_id", workspace)).Refused(422, "body.workspace_id value_error")
	h.Post("/credentials", with(body, "domain", "nowhere.com")).Refused(422, "body.domain value_error")
	h.Post("/credentials", with(body, "workspace_id", nobody)).Refused(422, "body.workspace_id value_error")
}

func TestRenameMasterPassword(t *testing.T) {
	h := apitest.New(t)
	id := h.Password("Old", nil)
	h.Clock.Advance(time.Second)
	h.Patch("/credentials/"+id, obj{"name": "Ünique"}).Want(200).Is("id", id, "name", "Ünique", "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:27.535897Z")
	h.Patch("/credentials/"+id, obj{"name": "Ünique"}).Want(200)
	h.Get("/credentials?search=ünIQUE").Is("total", 1)
	h.Get("/credentials?search=old").Is("total", 0)
	h.Password("Old", nil) // the name is free again
	for body, problem := range map[string]string{`{}`: "missing", `{"name":""}`: "string_too_short", `{"name":"` + strings.Repeat("ü", 101) + `"}`: "string_too_long", `{"name":null}`: "string_type"} {
		h.Patch("/credentials/"+id, body).Refused(422, "body.name "+problem)
	}
	h.Delete("/credentials/" + id).Want(204)
	for _, a := range []*apitest.Response{h.Get("/credentials/" + id), h.Patch("/credentials/"+id, obj{"name": "x"}), h.Delete("/credentials/" + id)} {
		a.Refused(404, "path.credential_id not_found")
	}
}
