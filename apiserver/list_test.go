package apiserver_test

import (
	"net/url"
	"strings"
	"testing"

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
			"bücher.com", "bücher", "BÜCHER", "Bücher.", "r.com", "ücher", "ÜCHER.C", "büch", "ü", "bu\u0308cher", "bu\u0308cher.com", "ｂücher", "xn--bcher", "XN--BCHER-KVA.com", "bcher-kva",
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
	// A person's name that is not ASCII is still found.
	h.Patch("/mailboxes/"+url.PathEscape("x@bücher.com"), obj{"first_name": "Jürgen", "last_name": "Groß"}).Want(200)
	for _, term := range []string{"jürgen groß", "ROSS", "GROß", "ju\u0308rgen", "ücher", "x@bücher.com"} {
		checkList(h, "/mailboxes", "search="+term, "primary_email", address)
	}
	// A text that is not a host name is not converted.
	h.Password("xn--bcher-kva", nil)
	checkList(h, "/credentials", "search=bücher", "name", "")
	rule := h.Get("/forwarding?search=ücher").Str("items.0.id")
	h.Patch("/forwarding/"+rule, obj{"target_email": "x@käse.com"}).Want(200)
	checkList(h, "/forwarding", "search=ücher", "target_email", "")
	checkList(h, "/forwarding", "search=äse.c", "target_email", "x@xn--kse-qla.com")
}
