package apiserver_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

func TestPaging(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	var want []string
	for i := range 30 {
		want = append(want, h.Mailbox("example.com", fmt.Sprintf("u%02d", (i*7)%30)))
	}
	h.Get("/mailboxes").Is("page", 1, "page_size", 25, "total", 30)
	same(t, "the default page", h.Get("/mailboxes").Each("id"), want[:25])
	for _, tt := range []struct {
		query      string
		page, size int
		want       []string
	}{
		{"page=2", 2, 25, want[25:]},
		{"page=1&page_size=10", 1, 10, want[:10]},
		{"page=3&page_size=10", 3, 10, want[20:]},
		{"page_size=1000", 1, 1000, want},
		{"page_size=1&page=30", 30, 1, want[29:]},
		{"page=4&page_size=10", 4, 10, nil},
		{"page=9223372036854775807&page_size=1000", 9223372036854775807, 1000, nil},
		{"Page=2", 1, 25, want[:25]},
	} {
		a := h.Get("/mailboxes?"+tt.query).Is("page", tt.page, "page_size", tt.size, "total", 30)
		if items, ok := a.At("items").([]any); !ok || len(items) != len(tt.want) {
			t.Errorf("%q: %v", tt.query, items)
		}
		if tt.want != nil {
			same(t, tt.query, a.Each("id"), tt.want)
		}
	}
	for query, problem := range map[string]string{
		"page=0": "page greater_than_equal", "page=-1": "page greater_than_equal", "page_size=0": "page_size greater_than_equal", "page_size=1001": "page_size less_than_equal",
		"page=x": "page int_parsing", "page_size=1.0": "page_size int_parsing", "page=9223372036854775808": "page int_parsing",
	} {
		h.Get("/mailboxes?"+query).Refused(422, "query."+problem)
	}
}

// TestEveryListPages checks that every list has pages and is in the order of creation.
func TestEveryListPages(t *testing.T) {
	h := apitest.New(t)
	for i := range 3 {
		name := fmt.Sprintf("d%d.com", 2-i)
		h.Domain(name)
		h.Mailbox(name, "jane")
		h.Forwarding(fmt.Sprintf("u%d@example.net", 2-i), nil)
		h.Password(fmt.Sprint("p", 2-i), nil)
		h.Workspace(fmt.Sprint("w", 2-i))
		h.Post("/auth/service-accounts", obj{"name": fmt.Sprint("s", 2-i)}).Want(201)
		h.Post("/dedicated-ips/claim", obj{"option_id": h.Option("eu")}).Want(201)
	}
	for path, total := range map[string]int{
		"/domains": 3, "/mailboxes": 3, "/forwarding": 3, "/credentials": 3, "/workspaces": 4, "/auth/service-accounts": 3, "/dedicated-ips": 3, "/dedicated-ips/options": 2, "/dns-records": 15,
	} {
		all := h.Get(path+"?page_size=1000").Is("total", total)
		var ids, paged []string
		for i := range total {
			ids = append(ids, fmt.Sprint(all.At("items."+itoa(i)+".id")))
			paged = append(paged, fmt.Sprint(h.Get(fmt.Sprintf("%s?page_size=1&page=%d", path, i+1)).Is("total", total, "page", i+1).At("items.0.id")))
		}
		same(t, path, paged, ids)
		if slices.Contains(ids, "<nil>") || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != total {
			t.Errorf("%s lists %q", path, ids)
		}
		h.Get(path+"?page=100").Is("total", total, "items.0", nil)
	}
}

// TestPagingWhileCreating checks that objects that exist before paging starts are neither
// missed nor repeated when others are created meanwhile.
func TestPagingWhileCreating(t *testing.T) {
	h := apitest.New(t)
	h.Domain("example.com")
	var want []string
	for i := range 25 {
		want = append(want, h.Mailbox("example.com", fmt.Sprintf("z%02d", 99-i)))
	}
	var got []string
	for page := 1; ; page++ {
		ids := h.Get(fmt.Sprintf("/mailboxes?page_size=7&page=%d", page)).Each("id")
		got = append(got, ids...)
		if len(ids) < 7 {
			break
		}
		if page < 6 {
			h.Mailbox("example.com", fmt.Sprintf("a%02d", page))
			h.Mailbox("example.com", fmt.Sprintf("0%02d", page))
		}
	}
	same(t, "all pages", got[:len(want)], want)
	if all := slices.Compact(slices.Sorted(slices.Values(got))); len(all) != len(got) {
		t.Error("an object is listed twice")
	}
}

const listFixture = `{"accounts":[{"id":"` + accountID + `","workspaces":[{"name":"Sales"}],
	"domains":[
		{"name":"example.com","tags":["prod","web"],"mailboxes":[
			{"local_part":"juergen","first_name":"Jürgen","last_name":"ÄRGER","status":"active"},
			{"local_part":"a_b%c","first_name":"100%","last_name":"x\\y","status":"paused"},
			{"local_part":"max","first_name":"Max","last_name":"Deleting","status":"deleting"}]},
		{"name":"bücher.de","workspace":"Sales","tags":["prod"],"status":"pending","mailboxes":[{"local_part":"max","first_name":"Max","last_name":"Groß"}]},
		{"name":"failed.net","status":"failed"}]}]}`

func newListHarness(t *testing.T) *apitest.Server {
	t.Helper()
	h := apitest.New(t, func(o *apiserver.Options) {
		o.Store = newStore(t)
		svc, err := apiserver.New(apiserver.Options{Store: o.Store, Clock: o.Clock})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fixture.Read(strings.NewReader(listFixture))
		if err != nil {
			t.Fatal(err)
		}
		if err := svc.LoadFixture(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	})
	return h
}

func TestMailboxFilters(t *testing.T) {
	h := newListHarness(t)
	sales := h.Get("/workspaces").Want(200).Str("items.1.id")
	for query, want := range map[string]string{
		"":                                       "juergen@example.com a_b%c@example.com max@example.com max@xn--bcher-kva.de",
		"domain=EXAMPLE.com":                     "juergen@example.com a_b%c@example.com max@example.com",
		"domain=bücher.de":                       "max@xn--bcher-kva.de",
		"domain=nowhere.com":                     "",
		"domain=not a name":                      "",
		"workspace_id=" + sales:                  "max@xn--bcher-kva.de",
		"workspace_id=" + nobody:                 "",
		"workspace_id=" + strings.ToUpper(sales): "max@xn--bcher-kva.de",
		"status=paused":                          "a_b%c@example.com",
		"status=deleting":                        "max@example.com",
		"search=max":                             "max@example.com max@xn--bcher-kva.de",
		"search=MAX":                             "max@example.com max@xn--bcher-kva.de",
		"search=jürgen":                          "juergen@example.com",
		"search=JÜRGEN":                          "juergen@example.com",
		"search=ärger":                           "juergen@example.com",
		"search=GROß":                            "max@xn--bcher-kva.de",
		"search=@example":                        "juergen@example.com a_b%c@example.com max@example.com",
		"search=max@xn--":                        "max@xn--bcher-kva.de",
		"search=%":                               "a_b%c@example.com",
		"search=_":                               "a_b%c@example.com",
		`search=x\y`:                             "a_b%c@example.com",
		"search='":                               "",
		"search=max&domain=example.com":          "max@example.com",
		"search=max&domain=example.com&status=active":                          "",
		"search=max&workspace_id=" + sales + "&domain=bücher.de&status=active": "max@xn--bcher-kva.de",
		"colour=red&sort=-id": "juergen@example.com a_b%c@example.com max@example.com max@xn--bcher-kva.de",
	} {
		checkList(h, "/mailboxes", query, "primary_email", want)
	}
}

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

func TestDomainFilters(t *testing.T) {
	h := newListHarness(t)
	sales := h.Get("/workspaces").Want(200).Str("items.1.id")
	tag := h.Get("/domains/example.com").Want(200).Str("tags.0.id")
	for query, want := range map[string]string{
		"":                                 "example.com xn--bcher-kva.de failed.net",
		"workspace_id=" + sales:            "xn--bcher-kva.de",
		"workspace_id=" + nobody:           "",
		"status=active":                    "example.com",
		"status=pending":                   "xn--bcher-kva.de",
		"status=failed":                    "failed.net",
		"status=pending_payment":           "",
		"tag=prod":                         "example.com xn--bcher-kva.de",
		"tag=web":                          "example.com",
		"tag=" + tag:                       "example.com xn--bcher-kva.de",
		"tag=none":                         "",
		"search=EXAMPLE":                   "example.com",
		"search=.":                         "example.com xn--bcher-kva.de failed.net",
		"search=bücher":                    "xn--bcher-kva.de",
		"search=BÜCHER.de":                 "xn--bcher-kva.de",
		"search=xn--":                      "xn--bcher-kva.de",
		"tag=prod&status=active":           "example.com",
		"tag=web&workspace_id=" + sales:    "",
		"tag=prod&search=b&status=pending": "xn--bcher-kva.de",
	} {
		checkList(h, "/domains", query, "name", want)
	}
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

// TestFilterInput checks that a filter rejects an impossible value, and that an unknown
// value results in an empty list.
func TestFilterInput(t *testing.T) {
	h := apitest.New(t)
	for path, problems := range map[string][]string{
		"/mailboxes?workspace_id=x&status=gone":                               {"query.workspace_id uuid_parsing", "query.status enum"},
		"/domains?workspace_id=x&status=gone":                                 {"query.workspace_id uuid_parsing", "query.status enum"},
		"/forwarding?workspace_id=x&scope_type=x&verification_state=x&page=0": {"query.page greater_than_equal", "query.workspace_id uuid_parsing", "query.scope_type enum", "query.verification_state enum"},
		"/credentials?scope_type=mailbox":                                     {"query.scope_type enum"},
		"/dedicated-ips?status=x&country_code=DEU":                            {"query.status enum", "query.country_code string_too_long"},
	} {
		h.Get(path).Refused(422, problems...)
	}
	long := strings.Repeat("x", 7000)
	for _, path := range []string{"/mailboxes", "/domains", "/forwarding", "/credentials"} {
		h.Get(path+"?search="+long).Want(200).Is("total", 0)
		h.Get(path+"?search="+url.QueryEscape("\x00\xff'\"%")).Want(200).Is("total", 0)
	}
}
