package apiserver_test

import (
	"strings"
	"testing"
	"time"
)

func TestMasterPassword(t *testing.T) {
	h := newHarness(t)
	a := h.post("/credentials", obj{"name": "Main", "value": "s3cret-value"}).want(201).is(
		"name", "Main", "scope_type", "account", "scope_id", accountID, "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z")
	generated := h.post("/credentials", obj{"name": "Other", "generate": true}).want(201)
	secret := generated.str("generated_secret")
	if len(secret) < 20 {
		t.Errorf("the generated secret is %q", secret)
	}
	if _, has := a.json.(map[string]any)["generated_secret"]; has {
		t.Errorf("a secret is generated unasked: %s", a)
	}
	for _, got := range []*answer{
		a, h.get("/credentials"), h.get("/credentials/" + a.str("id")), h.get("/credentials/" + generated.str("id")), h.patch("/credentials/"+generated.str("id"), obj{"name": "x"}),
	} {
		if s := string(got.raw); strings.Contains(s, "s3cret-value") || strings.Contains(s, secret) || strings.Contains(s, "generated_secret") || strings.Contains(s, "argon2") {
			t.Errorf("a secret is told: %s", got)
		}
	}
	second := h.post("/credentials", obj{"name": "Third", "generate": true}).want(201).str("generated_secret")
	if second == secret {
		t.Error("two secrets are the same")
	}
}

func TestMasterPasswordSecretRules(t *testing.T) {
	h := newHarness(t)
	for _, tt := range []struct {
		body obj
		want string
	}{
		{obj{}, "body.value value_error"},
		{obj{"generate": false}, "body.value value_error"},
		{obj{"generate": true, "value": "abcd"}, "body.value value_error"},
		{obj{"value": "abc"}, "body.value string_too_short"},
		{obj{"value": strings.Repeat("x", 257)}, "body.value string_too_long"},
		{obj{"value": 1234}, "body.value string_type"},
	} {
		h.post("/credentials", with(obj{"name": "n"}, flat(tt.body)...)).refused(422, tt.want)
	}
	for i, value := range []string{"abcd", strings.Repeat("x", 256), "pässwörd", "    "} {
		h.post("/credentials", obj{"name": itoa(i), "value": value}).want(201)
	}
}

func TestMasterPasswordScopes(t *testing.T) {
	h := newHarness(t)
	domain, workspace := h.domain("example.com"), h.workspace("Sales")
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
		ids[tt.typ] = h.post("/credentials", body).want(201).is("scope_type", tt.typ, "scope_id", tt.id).str("id")
		h.post("/credentials", body).refused(409, "body conflict").says(ids[tt.typ])
		h.post("/credentials", with(body, "name", "Another")).want(201)
		h.patch("/credentials/"+ids[tt.typ], obj{"name": "Another"}).refused(409, "body conflict")
	}
	for query, want := range map[string]string{
		"search=SAME": "account workspace domain", "search=same&scope_type=account": "account", "search=same&domain=example.com": "domain", "search=same&domain=" + domain: "domain",
		"search=same&workspace_id=" + workspace: "workspace", "scope_type=domain&workspace_id=" + workspace: "", "domain=nowhere.com": "", "search=nothing": "", "scope_type=domain": "domain domain",
	} {
		checkList(h, "/credentials", query, "scope_type", want)
	}
	body := obj{"name": "n", "generate": true}
	h.post("/credentials", with(body, "domain", "example.com", "workspace_id", workspace)).refused(422, "body.workspace_id value_error")
	h.post("/credentials", with(body, "domain", "nowhere.com")).refused(422, "body.domain value_error")
	h.post("/credentials", with(body, "workspace_id", nobody)).refused(422, "body.workspace_id value_error")
}

func TestRenameMasterPassword(t *testing.T) {
	h := newHarness(t)
	id := h.password("Old", nil)
	h.clock.Advance(time.Second)
	h.patch("/credentials/"+id, obj{"name": "Ünique"}).want(200).is("id", id, "name", "Ünique", "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:27.535897Z")
	h.patch("/credentials/"+id, obj{"name": "Ünique"}).want(200)
	h.get("/credentials?search=ünIQUE").is("total", 1)
	h.get("/credentials?search=old").is("total", 0)
	h.password("Old", nil) // the name is free again
	for body, problem := range map[string]string{`{}`: "missing", `{"name":""}`: "string_too_short", `{"name":"` + strings.Repeat("ü", 101) + `"}`: "string_too_long", `{"name":null}`: "string_type"} {
		h.patch("/credentials/"+id, body).refused(422, "body.name "+problem)
	}
	h.delete("/credentials/" + id).want(204)
	for _, a := range []*answer{h.get("/credentials/" + id), h.patch("/credentials/"+id, obj{"name": "x"}), h.delete("/credentials/" + id)} {
		a.refused(404, "path.credential_id not_found")
	}
}
