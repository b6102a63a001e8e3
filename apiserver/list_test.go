package apiserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// checkList compares one field of the items that a query lists.
func checkList(h *apitest.Server, path, query, field, want string) {
	h.T.Helper()
	values := url.Values{}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			values.Set(name, value)
		}
	}
	a := h.Get(path + "?" + values.Encode())
	if got := a.Each(field); strings.Join(got, " ") != want {
		h.T.Errorf("%s?%s lists %q; want %q", path, query, got, want)
	}
	a.Is("total", len(strings.Fields(want)))
}

// TestSearchForInternationalisedNames checks that the three lists with names find an
// internationalised name by any part of it, in Unicode and in ASCII.
func TestSearchForInternationalisedNames(t *testing.T) {
	h := apitest.New(t)
	h.Domain("xn--bcher-kva.com")
	h.Domain("example.com")
	h.Mailbox("bücher.com", "x")
	h.Mailbox("example.com", "bx")
	for _, target := range []string{"x@Bücher.com", "x@example.net"} {
		h.Forwarding(target, nil)
	}
	const domain, address = "xn--bcher-kva.com", "x@xn--bcher-kva.com"
	for _, path := range []string{"/domains", "/mailboxes", "/forwarding"} {
		field := map[string]string{"/domains": "name", "/mailboxes": "primary_email", "/forwarding": "target_email"}[path]
		want := address
		if path == "/domains" {
			want = domain
		}
		for _, term := range []string{
			"bücher.com", "bücher&unknown=parameter", "BÜCHER", "Bücher.", "r.com", "ücher", "ÜCHER.C", "büch", "ü", "bu\u0308cher", "bu\u0308cher.com", "xn--bcher", "XN--BCHER-KVA.com", "bcher-kva",
		} {
			checkList(h, path, "search="+term, field, want)
		}
		for _, term := range []string{"küche", "bücher.de", "ücherei", "bücher bücher", "%ü", "ü_", "ü\\", "ü@", "x@@bücher"} {
			checkList(h, path, "search="+term, field, "")
		}
		for _, term := range []string{"x@bücher.com", "X@BÜCHER", "@bücher", "x@bu\u0308cher", "x@", "x@b"} {
			found := want
			switch {
			case path == "/domains":
				found = ""
			case term == "x@" && path == "/mailboxes":
				found = address + " bx@example.com"
			case term == "x@" && path == "/forwarding":
				found = address + " x@example.net"
			}
			checkList(h, path, "search="+term, field, found)
		}
	}
	checkList(h, "/mailboxes", "domain=Bücher.com", "primary_email", address)
	checkList(h, "/mailboxes", "domain=nowhere.com", "primary_email", "")
	// A name with other than ASCII letters is found too.
	h.Patch("/mailboxes/"+url.PathEscape("x@bücher.com"), obj{"first_name": "Jürgen", "last_name": "Groß"}).Want(200)
	for _, term := range []string{"jürgen groß", "ROSS", "GROß", "ju\u0308rgen", "ücher", "x@bücher.com"} {
		checkList(h, "/mailboxes", "search="+term, "primary_email", address)
	}
	// A text other than a host name is not converted.
	h.Password("xn--bcher-kva", nil)
	checkList(h, "/credentials", "search=bücher", "name", "")
	rule := h.Get("/forwarding?search=ücher").Str("items.0.id")
	h.Patch("/forwarding/"+rule, obj{"target_email": "x@käse.com"}).Want(200)
	checkList(h, "/forwarding", "search=ücher", "target_email", "")
	checkList(h, "/forwarding", "search=äse.c", "target_email", "x@xn--kse-qla.com")
}

// TestUnknownReferencesAreReportedWithOtherProblems checks that a 422 lists the unknown
// objects in a body together with all other problems.
func TestUnknownReferencesAreReportedWithOtherProblems(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	const unknown = "body.domain value_error"
	for _, tt := range []struct {
		method, path string
		body         obj
		want         []string
	}{
		{"POST", "/mailboxes", obj{"domain": "nope.com", "first_name": "", "last_name": "L", "local_part": "a b"},
			[]string{"body.first_name string_too_short", "body.local_part value_error", unknown}},
		{"POST", "/mailboxes/bulk", obj{"domain": nobody, "items": []obj{{"first_name": 5, "last_name": "l", "local_part": "p"}}},
			[]string{"body.items.0.first_name string_type", unknown}},
		{"POST", "/credentials", obj{"name": "", "generate": true, "domain": "nope.com"}, []string{"body.name string_too_short", unknown}},
		{"POST", "/credentials", obj{"name": "", "generate": true, "workspace_id": strings.ToUpper(nobody)},
			[]string{"body.name string_too_short", "body.workspace_id value_error"}},
		{"POST", "/forwarding", obj{"target_email": "bad", "domain": "nope.com"}, []string{"body.target_email value_error", unknown}},
		{"POST", "/dns-records", obj{"domain": "nope.com", "name": "x", "type": "A", "value": "bad"}, []string{"body.value value_error", unknown}},
		{"POST", "/auth/service-accounts", obj{"name": "", "expires_at": "2026-01-01T00:00:00Z"}, []string{"body.name string_too_short", "body.expires_at value_error"}},
		{"PATCH", "/domains/example.com", obj{"redirect_url": "ftp://x", "workspace_id": nobody},
			[]string{"body.redirect_url value_error", "body.workspace_id value_error"}},
		{"POST", "/domains/purchase", obj{"domains": []string{"a.com"}, "workspace_id": nobody, "contact_info": with(contact(), "country", "ZZ")},
			[]string{"body.contact_info.country value_error", "body.workspace_id value_error"}},
		// Each place has at most one problem, and an existing object is not a problem.
		{"POST", "/forwarding", obj{"target_email": "bad", "workspace_id": "x"}, []string{"body.target_email value_error", "body.workspace_id uuid_parsing"}},
		{"POST", "/forwarding", obj{"target_email": "bad", "domain": "EXAMPLE.com"}, []string{"body.target_email value_error"}},
		{"POST", "/forwarding", obj{"target_email": "bad", "domain": 5}, []string{"body.target_email value_error", "body.domain string_type"}},
	} {
		a := h.Do(tt.method, tt.path, tt.body).Want(422)
		got := a.Problems()
		slices.Sort(got)
		slices.Sort(tt.want)
		same(t, tt.method+" "+tt.path, got, tt.want)
	}
	h.Post("/mailboxes", `{"domain":"nope.com"`).Refused(422, "body json_invalid")
	// With an invalid account id, no object is looked up.
	h.Post("/v1/public/accounts/x/mailboxes", obj{"domain": "nope.com", "first_name": "", "last_name": "L", "local_part": "a"}).
		Refused(422, "path.account_id uuid_parsing", "body.first_name string_too_short")
}

func TestQueryThatCannotBeDecoded(t *testing.T) {
	h := apitest.New(t)
	token, err := h.Service.IssueOwnerToken(t.Context(), accountID, "t")
	assert.NilError(t, err)
	for query, want := range map[string]int{"domain=none.com%": 422, "status=%zz": 422, "page=%zz": 422, "a;b": 422, "search=%25": 200, "search=%3B": 200, "status=&search=&domain=": 200} {
		w := raw(t, h.Service, token, "/mailboxes?"+query)
		assert.Check(t, w.Code == want && (want != 422 || strings.Contains(w.Body.String(), `{"loc":["query"],`)), "%s: %d %s", query, w.Code, w.Body)
	}
	w := raw(t, h.Service, "", "/mailboxes?page=%zz")
	assert.Check(t, w.Code == 401, "without a credential: %d %s", w.Code, w.Body)
}

// raw sends a request with a path that net/url would reject in a client.
func raw(t *testing.T, svc *apiserver.Service, token, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/public/accounts/"+accountID+path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	svc.Handler().ServeHTTP(w, r)
	return w
}

func TestCompressedBody(t *testing.T) {
	h := apitest.New(t)
	for coding, want := range map[string]int{"gzip": 415, "br, gzip": 415, "identity": 201, "Identity": 201} {
		a := h.Do("POST", "/workspaces", obj{"name": fmt.Sprintf("%x", coding)}, "Content-Encoding", coding).Want(want)
		if want == 415 {
			a.Refused(415, "header.Content-Encoding unsupported_media_type")
		}
	}
}

// TestUnknownObjects checks that a 404 names the parameter and the kind of object.
func TestUnknownObjects(t *testing.T) {
	h := apitest.New(t)
	for _, spec := range api.Specs() {
		_, path, _ := strings.Cut(spec.Path, "{account_id}")
		if _, object, ok := strings.Cut(path, "{"); ok && (spec.Method == "GET" || spec.Method == "DELETE") {
			param, rest, _ := strings.Cut(object, "}")
			id := map[bool]string{true: "1", false: nobody}[param == "dns_record_id"]
			h.Do(spec.Method, strings.TrimSuffix(path, "{"+object)+id+rest, nil).Refused(404, "path."+param+" not_found").
				Says("no such " + spec.Kind.Noun + " in this account")
		}
	}
}
