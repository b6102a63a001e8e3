package apiserver_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// references are the inputs that name an object, with what names one that the
// caller may not see and what names nothing.
type references map[string][][2]string

const (
	nothing        = "88888888-8888-4888-8888-888888888888"
	nothingCom     = "nothng.com" // as long as hidden.com
	anotherAccount = "22222222-3333-4444-8555-666666666666"
)

// hidden are the references to the hidden half of an estate.
func (e estate) hidden() references {
	return references{
		"domain":        {{"hidden.com", nothingCom}, {e.domain[1], nothing}},
		"mailbox":       {{"jane@hidden.com", "jane@" + nothingCom}, {e.mailbox[1], nothing}},
		"workspace_id":  {{e.workspace[1], nothing}},
		"forwarding_id": {{e.forwarding[1], nothing}},
		"credential_id": {{e.password[1], nothing}},
		"dns_record_id": {{e.record[1], "999999"}},
		"resource_id":   {{e.domain[1], nothing}, {e.workspace[1], nothing}},
	}
}

// foreign are the references to another account's objects.
func foreign(t *testing.T, h *harness) references {
	t.Helper()
	other := h.owner(t, anotherAccount)
	id := func(a *answer, place string) string { return a.want(201).str(place) }
	account := id(other.post("/auth/service-accounts", obj{"name": "ci"}), "id")
	refs := references{
		"domain":             {{"hidden.com", nothingCom}, {other.domain("hidden.com"), nothing}},
		"mailbox":            {{"jane@hidden.com", "jane@" + nothingCom}, {other.mailbox("hidden.com", "jane"), nothing}},
		"workspace_id":       {{other.workspace("w"), nothing}, {other.defaultWorkspace(), nothing}},
		"forwarding_id":      {{other.forwarding("x@example.net", nil), nothing}},
		"credential_id":      {{other.password("p", nil), nothing}},
		"dns_record_id":      {{fmt.Sprint(other.record("hidden.com", "www", "A", "192.0.2.1").want(201).at("id")), "999999"}},
		"service_account_id": {{account, nothing}},
		"subject_id":         {{account, nothing}},
		"authorization_id":   {{other.get("/auth/authorizations").want(200).str("0.id"), nothing}},
		"option_id":          {{other.option("eu"), nothing}},
		"dedicated_ip_id":    {{id(other.post("/dedicated-ips/claim", obj{"option_id": other.option("eu")}), "id"), nothing}},
	}
	refs["resource_id"] = slices.Concat(refs["domain"][1:], refs["workspace_id"])
	return refs
}

// TestWhatIsHiddenDoesNotExist names, in each input of each operation, an object
// that the caller may not see: the answer is, byte for byte, the one to a name
// of nothing.
func TestWhatIsHiddenDoesNotExist(t *testing.T) {
	h := newHarness(t)
	others := foreign(t, h)
	t.Run("another account", func(t *testing.T) { others.check(t, h.in(t)) })

	h = newHarness(t)
	e := newEstate(h)
	t.Run("another domain", func(t *testing.T) { e.hidden().check(t, h.narrowed(t, "domain", e.domain[0]).in(t)) })
	t.Run("another workspace", func(t *testing.T) { e.hidden().check(t, h.narrowed(t, "workspace", e.workspace[0]).in(t)) })
}

func (refs references) check(t *testing.T, c *client) {
	compared := 0
	for _, spec := range api.Specs() {
		inputs := append(params(spec.Request, "path"), params(spec.Request, "query")...)
		if body, ok := spec.Request.FieldByName("Body"); ok {
			inputs = append(inputs, bodyFields(body.Type, []string{"body"})...)
		}
		for _, in := range inputs {
			name, isElement := in.name(), in.element && in.loc[len(in.loc)-2] == "mailboxes"
			if isElement {
				name = "mailbox"
			}
			for _, ref := range refs[name] {
				if in.typ.Kind() == reflect.String && in.tag.Get("format") == "uuid" && !strings.Contains(ref[0], "-") {
					continue
				}
				var told [2]string
				for i, named := range ref {
					a := newRequest(t, spec).broken(in.loc, named).send(c)
					told[i] = fmt.Sprint(a.status, " ", strings.ReplaceAll(string(a.raw), named, "it"))
				}
				if compared++; told[0] != told[1] {
					t.Errorf("%s, %v: %s is told from nothing:\n%s\n%s", spec.ID, in.loc, ref[0], told[0], told[1])
				}
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d answers were compared", compared)
	}
}
