package apiserver_test

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// references map the name of an input to pairs: a reference to an object that the caller
// may not see, and one to no object.
type references map[string][][2]string

const (
	nothing        = "88888888-8888-4888-8888-888888888888"
	nothingCom     = "nothng.com" // same length as hidden.com
	anotherAccount = "22222222-3333-4444-8555-666666666666"
)

// hidden returns the references to the hidden half of an estate.
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

// foreign returns references to another account's objects.
func foreign(t *testing.T, h *apitest.Server) references {
	t.Helper()
	other := h.Owner(t, anotherAccount)
	id := func(a *apitest.Response, place string) string { return a.Want(201).Str(place) }
	account := id(other.Post("/auth/service-accounts", obj{"name": "ci"}), "id")
	refs := references{
		"domain":             {{"hidden.com", nothingCom}, {other.Domain("hidden.com"), nothing}},
		"mailbox":            {{"jane@hidden.com", "jane@" + nothingCom}, {other.Mailbox("hidden.com", "jane"), nothing}},
		"workspace_id":       {{other.Workspace("w"), nothing}, {other.DefaultWorkspace(), nothing}},
		"forwarding_id":      {{other.Forwarding("x@example.net", nil), nothing}},
		"credential_id":      {{other.Password("p", nil), nothing}},
		"dns_record_id":      {{idOf(other.CreateRecord("hidden.com", "www", "A", "192.0.2.1").Want(201), "id"), "999999"}},
		"service_account_id": {{account, nothing}},
		"subject_id":         {{account, nothing}},
		"authorization_id":   {{other.Get("/auth/authorizations").Want(200).Str("0.id"), nothing}},
		"option_id":          {{other.Option("eu"), nothing}},
		"dedicated_ip_id":    {{id(other.Post("/dedicated-ips/claim", obj{"option_id": other.Option("eu")}), "id"), nothing}},
	}
	refs["resource_id"] = slices.Concat(refs["domain"][1:], refs["workspace_id"])
	return refs
}

// TestHiddenObjectsLookNonexistent sends a reference to a hidden object in each input of
// each operation. It checks that the response is the same as for an object that does not
// exist.
func TestHiddenObjectsLookNonexistent(t *testing.T) {
	h := apitest.New(t)
	others := foreign(t, h)
	t.Run("another account", func(t *testing.T) { others.check(t, h.In(t)) })

	h = apitest.New(t)
	e := newEstate(h)
	t.Run("another domain", func(t *testing.T) { e.hidden().check(t, h.Restricted(t, "domain", e.domain[0]).In(t)) })
	t.Run("another workspace", func(t *testing.T) { e.hidden().check(t, h.Restricted(t, "workspace", e.workspace[0]).In(t)) })
}

func (refs references) check(t *testing.T, c *apitest.Client) {
	compared := 0
	for _, spec := range api.Specs() {
		for _, in := range inputsOf(spec) {
			name, isElement := in.name(), in.element && in.loc[len(in.loc)-2] == "mailboxes"
			if isElement {
				name = "mailbox"
			}
			for _, ref := range refs[name] {
				if in.typ.Kind() == reflect.String && in.tag.Get("format") == "uuid" && !strings.Contains(ref[0], "-") {
					continue
				}
				var responses [2]string
				for i, named := range ref {
					a := newRequest(t, spec).broken(in.loc, named).send(c)
					responses[i] = fmt.Sprint(a.Status, " ", strings.ReplaceAll(string(a.Raw), named, "it"))
				}
				if compared++; responses[0] != responses[1] {
					t.Errorf("%s, %v: the response reveals that %s exists:\n%s\n%s", spec.ID, in.loc, ref[0], responses[0], responses[1])
				}
			}
		}
	}
	assert.Check(t, compared >= 40, "only %d pairs of responses were compared", compared)
}

// placeInputs matches the inputs that name a domain, a mailbox or a workspace.
var placeInputs = regexp.MustCompile("^(domains?|mailbox(es)?|workspaces?|resource)(_ids?)?$")

// notNarrowable maps an operation that names a domain, a mailbox or a workspace but
// requires an unrestricted grant to the reason.
var notNarrowable = map[string]string{
	"grant-authorization": "a restricted caller must not grant its permissions to others",
}

// TestOperationsInADomainAreNarrowable checks that each operation that names a domain, a
// mailbox or a workspace is Narrowable. A restricted caller could not use it otherwise.
func TestOperationsInADomainAreNarrowable(t *testing.T) {
	found := map[string]bool{}
	for _, spec := range api.Specs() {
		inputs := inputsOf(spec)
		i := slices.IndexFunc(inputs, func(in input) bool { return placeInputs.MatchString(in.name()) })
		if i < 0 {
			continue
		}
		found[spec.ID] = true
		why := notNarrowable[spec.ID]
		assert.Check(t, spec.Narrowable != (why != ""), "%s has %v and Narrowable is %t; its entry in notNarrowable is %q", spec.ID, inputs[i].loc, spec.Narrowable, why)
	}
	for id := range notNarrowable {
		assert.Check(t, found[id], "%s in notNarrowable names no domain, mailbox or workspace", id)
	}
	assert.Check(t, len(found) >= 15, "only %d operations name a domain, a mailbox or a workspace", len(found))
}

// TestListsOmitHiddenObjects checks every list that a restricted caller may read, and that the
// caller may read its own objects. A new kind of list needs two objects in the estate.
func TestListsOmitHiddenObjects(t *testing.T) {
	h := apitest.New(t)
	e := newEstate(h)
	restricted := map[string]*apitest.Client{"domain": h.Restricted(t, "domain", e.domain[0]), "workspace": h.Restricted(t, "workspace", e.workspace[0])}
	lists := 0
	for _, spec := range api.Specs() {
		if !spec.Narrowable || spec.Method != http.MethodGet || len(params(spec.Request, "path")) != 1 { // the account's id is the only path parameter
			continue
		}
		t.Run(spec.ID, func(t *testing.T) {
			r := newRequest(t, spec).broken([]string{"query", "page_size"}, "1000")
			all := r.send(h.In(t)).Want(http.StatusOK)
			assert.Assert(t, len(e.hiddenIDs(all.At("items"))) != 0, "the list has no hidden object; add one of this kind to each half of the estate: %s", all)
			for to, c := range restricted {
				a := r.send(c.In(t)).Want(http.StatusOK)
				ids := e.hiddenIDs(a.At("items"))
				assert.Check(t, len(ids) == 0 && !strings.Contains(string(a.Raw), "hidden.com"), "restricted to a %s, the list contains the hidden %q: %s", to, ids, a)
			}
		})
		lists++
	}
	for _, c := range restricted {
		for _, seen := range []string{"/domains/seen.com", "/mailboxes/" + e.mailbox[0], "/forwarding/" + e.forwarding[0], "/credentials/" + e.password[0], "/dns-records/" + e.record[0]} {
			c.Get(seen).Want(http.StatusOK)
		}
	}
	assert.Check(t, lists >= 6, "only %d lists were read", lists)
}

// hiddenIDs returns the ids of hidden objects in a response, under any name.
func (e estate) hiddenIDs(v any) (found []string) {
	switch in := v.(type) {
	case []any:
		for _, element := range in {
			found = append(found, e.hiddenIDs(element)...)
		}
	case map[string]any:
		for name, member := range in {
			id := fmt.Sprint(member)
			if number, ok := member.(float64); ok {
				id = itoa(int(number))
			}
			if isID := name == "id" || strings.HasSuffix(name, "_id"); isID && e.hides(id) {
				found = append(found, id)
			}
			found = append(found, e.hiddenIDs(member)...)
		}
	}
	return found
}

// hides reports whether the id is that of a hidden object of any kind.
func (e estate) hides(id string) bool {
	for _, kind := range reflect.ValueOf(e).Fields() {
		if kind.Index(1).String() == id {
			return true
		}
	}
	return false
}
