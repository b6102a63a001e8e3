package apiserver_test

import (
	"fmt"
	"maps"
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

// references maps the name of an input to pairs: a reference to an object that the caller may not
// see, and a reference to no object.
type references map[string][][2]string

const (
	nothing        = "88888888-8888-4888-8888-888888888888"
	nothingCom     = "nothng.com" // same length as hidden.com
	anotherAccount = "22222222-3333-4444-8555-666666666666"
)

// hidden returns the references to the hidden half of an estate.
func (e estate) hidden() references {
	refs := references{"domain": {{"hidden.com", nothingCom}}, "mailbox": {{"sample@hidden.com", "sample@" + nothingCom}}}
	digits := regexp.MustCompile(`\d`)
	for parameter, id := range e[1] {
		refs[parameter] = append(refs[parameter], [2]string{id, digits.ReplaceAllString(id, "8")}) // a UUID or a number
	}
	refs["resource_id"] = slices.Concat(refs["domain"][1:], refs["workspace_id"])
	refs["subject_id"] = refs["service_account_id"]
	return refs
}

// TestHiddenObjectsLookNonexistent sends a reference to a hidden object in each input of each
// operation. It checks that the response is the same as for a nonexistent object.
func TestHiddenObjectsLookNonexistent(t *testing.T) {
	h := apitest.New(t)
	other := h.Owner(t, anotherAccount)
	refs := newEstate(other).hidden()
	refs["workspace_id"] = append(refs["workspace_id"], [2]string{other.DefaultWorkspace(), nothing})
	refs["option_id"] = [][2]string{{other.Option("eu"), nothing}}
	t.Run("another account", func(t *testing.T) { refs.check(t, h.In(t)) })

	h = apitest.New(t)
	e := newEstate(h.Client)
	t.Run("another domain", func(t *testing.T) { e.hidden().check(t, h.Restricted(t, "domain", e[0]["domain"]).In(t)) })
	t.Run("another workspace", func(t *testing.T) { e.hidden().check(t, h.Restricted(t, "workspace", e[0]["workspace_id"]).In(t)) })
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

// notNarrowable maps an operation to the reason why it requires an unrestricted grant, although it
// names a domain, a mailbox or a workspace.
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

// TestListsOmitHiddenObjects checks every list that a restricted caller may read: it contains the
// caller's own objects, but neither hidden objects nor objects of a deleted domain.
func TestListsOmitHiddenObjects(t *testing.T) {
	h := apitest.New(t)
	e := newEstate(h.Client)
	restricted := map[string]*apitest.Client{"domain": h.Restricted(t, "domain", e[0]["domain"]), "workspace": h.Restricted(t, "workspace", e[0]["workspace_id"])}
	var lists []api.Spec
	for _, spec := range api.Specs() {
		if !spec.Narrowable || spec.Method != http.MethodGet {
			continue
		}
		if names := spec.PathParameters(); len(names) > 1 {
			for to, c := range restricted {
				if to == "domain" && names[1] == "workspace_id" { // a grant for a domain does not show its workspace
					continue
				}
				newRequest(t, spec).broken([]string{"path", names[1]}, e[0][names[1]]).send(c.In(t)).Want(http.StatusOK)
			}
			continue
		}
		t.Run(spec.ID, func(t *testing.T) {
			r := newRequest(t, spec).broken([]string{"query", "page_size"}, "1000")
			all := r.send(h.In(t)).Want(http.StatusOK)
			assert.Assert(t, len(e.hiddenIDs(all.At("items"))) != 0, "the list has no hidden object; create one in a new row of Samples (apitest/samples.go): %s", all)
			for to, c := range restricted {
				a := r.send(c.In(t)).Want(http.StatusOK)
				ids := e.hiddenIDs(a.At("items"))
				assert.Check(t, len(ids) == 0 && !strings.Contains(string(a.Raw), "hidden.com"), "restricted to a %s, the list contains the hidden %q: %s", to, ids, a)
			}
		})
		lists = append(lists, spec)
	}
	h.Delete("/mailboxes/" + e[1]["mailbox"]).Want(http.StatusNoContent)
	h.Delete("/domains/hidden.com").Want(http.StatusNoContent)
	for _, spec := range lists {
		a := newRequest(t, spec).send(h.Client).Want(http.StatusOK)
		assert.Check(t, !strings.Contains(string(a.Raw), e[1]["domain"]), "the domain's objects remain; delete them in DeleteDomain (sqlstore/domain.go): %s", a)
	}
	assert.Check(t, len(lists) >= 6, "only %d lists were read", len(lists))
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

// hides reports whether the id belongs to a hidden object of any kind.
func (e estate) hides(id string) bool {
	return slices.Contains(slices.Collect(maps.Values(e[1])), id)
}
