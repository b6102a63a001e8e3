package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func (f *fakeAPI) withDomains(n int) *fakeAPI {
	for i := range n {
		f.add("domains", object{"name": fmt.Sprintf("d%04d.example", i)})
	}
	return f
}

func domainNames(c *Client, t *testing.T) ([]string, error) {
	var names []string
	for d, err := range c.ListDomains(t.Context(), api.ListDomainsRequest{}) {
		if err != nil {
			return names, err
		}
		names = append(names, d.Name)
	}
	return names, nil
}

// sizesAsked returns the page_size of each request.
func (f *fakeAPI) sizesAsked() string {
	var sizes []string
	for _, r := range f.requests {
		sizes = append(sizes, r.query.Get("page_size"))
	}
	return strings.Join(sizes, " ")
}

func TestSweep(t *testing.T) {
	for _, tc := range []struct {
		name    string
		objects int
		change  func(*fakeAPI)
		sizes   string // page_size of each request
		err     string
	}{
		{"empty", 0, func(*fakeAPI) {}, "1000", ""},
		{"one page", 3, func(*fakeAPI) {}, "1000", ""},
		{"a full page", 1000, func(*fakeAPI) {}, "1000", ""},
		{"two pages", 1001, func(*fakeAPI) {}, "1000 1000", ""},
		{"a smaller page is followed", 5, func(f *fakeAPI) { f.maxPageSize = 2 }, "1000 2 2", ""},
		{"422 twice", 250, func(f *fakeAPI) { f.rejectsSize = 100 }, "1000 500 100 100 100", ""},
		{"422 for all", 3, func(f *fakeAPI) { f.rejectsSize = 1 }, "1000 500 100 25", "page_size"},
		{"page ignored", 5, func(f *fakeAPI) { f.maxPageSize, f.ignoresPage = 2, true }, "1000 2", "repeats"},
		{"page ignored, all on it", 5, func(f *fakeAPI) { f.ignoresPage = true }, "1000", ""},
		{"another page than asked for", 3, func(f *fakeAPI) {
			f.fail(fault{op: "list-domains", text: `{"items":[{"id":"x"}],"page":7,"page_size":1,"total":9}`})
		}, "1000", "page 7 returned"},
		{"a total that is never reached", 0, func(f *fakeAPI) {
			f.fail(fault{op: "list-domains", text: `{"items":[{"id":"x"}],"page_size":1,"total":9}`},
				fault{op: "list-domains", text: `{"items":[],"page_size":1,"total":9}`})
		}, "1000 1", "after 1 of 9"},
		{"an object without id", 0, func(f *fakeAPI) { f.fail(fault{op: "list-domains", text: `{"items":[{}],"total":1}`}) }, "1000", "without an id"},
		{"no page at all", 3, func(f *fakeAPI) { f.fail(fault{op: "list-domains", text: `{}`}) }, "1000", "no page"},
		{"no content", 3, func(f *fakeAPI) { f.fail(fault{op: "list-domains", text: ` `}) }, "1000", "no page"},
		{"a page of null items", 0, func(f *fakeAPI) { f.fail(fault{op: "list-domains", text: `{"items":null,"page":1,"page_size":1000}`}) }, "1000", ""},
		{"no total, short page", 0, func(f *fakeAPI) {
			f.fail(fault{op: "list-domains", text: `{"items":[{"id":"x"}],"page_size":2}`})
		}, "1000", ""},
		{"nothing but items", 0, func(f *fakeAPI) {
			f.fail(fault{op: "list-domains", text: `{"items":[{"id":"x"}]}`}, fault{op: "list-domains", text: `{"items":[]}`})
		}, "1000 1000", ""},
		{"500 in the middle is retried", 3, func(f *fakeAPI) {
			f.maxPageSize = 2
			f.fail(fault{op: "list-domains", text: ""}, fault{op: "list-domains", status: 500})
		}, "1000 2 2", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeAPI().withDomains(tc.objects)
			tc.change(f)
			names, err := domainNames(f.client(t), t)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if tc.err == "" && tc.objects > 0 && (len(names) != tc.objects || !slices.IsSorted(names)) {
				t.Errorf("%d objects, want %d", len(names), tc.objects)
			}
			if len(f.requests) > 0 && f.requests[0].query.Get("page") != "1" {
				t.Errorf("page %s first", f.requests[0].query.Get("page"))
			}
			if got := f.sizesAsked(); got != tc.sizes {
				t.Errorf("page sizes %s, want %s", got, tc.sizes)
			}
		})
	}
}

func TestSweepStopsEarly(t *testing.T) {
	f := newFakeAPI().withDomains(10)
	f.maxPageSize = 2
	n := 0
	for _, err := range f.client(t).ListDomains(t.Context(), api.ListDomainsRequest{}) {
		if n++; err != nil || n == 3 {
			break
		}
	}
	if n != 3 || f.count("list-domains") != 2 {
		t.Errorf("%d objects, %v", n, f.sent())
	}
}

// What is created during a sweep hides nothing, what is deleted neither.
func TestSweepOfAChangingList(t *testing.T) {
	for name, change := range map[string]func(f *fakeAPI){
		"created": func(f *fakeAPI) { f.add("domains", object{"name": "new.example"}) },
		"deleted": func(f *fakeAPI) { f.stored["domains"] = slices.Delete(f.stored["domains"], 0, 1) },
	} {
		f := newFakeAPI().withDomains(6)
		f.maxPageSize = 2
		f.onList = func() {
			if f.count("list-domains") == 1 {
				change(f)
			}
		}
		names, err := domainNames(f.client(t), t)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 6; i++ {
			if want := fmt.Sprintf("d%04d.example", i); !slices.Contains(names, want) {
				t.Errorf("%s: %s is missing from %v", name, want, names)
			}
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s: twice in %v", name, names)
		}
	}
}

func TestSweepOfAListThatNeverRests(t *testing.T) {
	f := newFakeAPI().withDomains(60)
	f.maxPageSize = 2
	f.onList = func() { f.stored["domains"] = f.stored["domains"][1:] }
	if _, err := domainNames(f.client(t), t); err == nil || !strings.Contains(err.Error(), "changed under") {
		t.Errorf("%v after %d requests", err, len(f.sent()))
	}
}

// A page size that was refused is not asked for again.
func TestPageSizeIsRemembered(t *testing.T) {
	f := newFakeAPI().withDomains(1)
	f.rejectsSize = 500
	c := f.client(t)
	for range 3 {
		if _, err := domainNames(c, t); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.count("list-domains"); n != 4 {
		t.Errorf("%d requests", n)
	}
}

func TestFiltersPassThrough(t *testing.T) {
	f := newFakeAPI()
	for range f.client(t).ListMailboxes(t.Context(), api.ListMailboxesRequest{Domain: "a b.example", Status: "active"}) { //nolint:errcheck // only the request counts
	}
	if got := f.requests[0].query.Encode(); got != "domain=a+b.example&page=1&page_size=1000&status=active" {
		t.Error(got)
	}
}

func TestAuthorizations(t *testing.T) {
	f := newFakeAPI()
	f.add("auth/authorizations", object{"grant_kind": "account_owner"}, object{"grant_kind": "super_admin"})
	c := f.client(t)
	all := func(req api.ListAuthorizationsRequest) ([]api.Authorization, error) {
		return filter(c.ListAuthorizations(t.Context(), req), func(*api.Authorization) bool { return true })
	}
	list, err := all(api.ListAuthorizationsRequest{IncludeRevoked: true})
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if got := f.requests[0].query.Encode(); got != "include_revoked=true" {
		t.Error(got)
	}
	f.fail(fault{op: "list-authorizations", text: "null"})
	if list, err := all(api.ListAuthorizationsRequest{}); err != nil || len(list) != 0 {
		t.Errorf("null: %v, %v", list, err)
	}
	f.fail(fault{op: "list-authorizations", text: "{}"})
	if _, err := all(api.ListAuthorizationsRequest{}); err == nil {
		t.Error("{} is no list")
	}
}

// TestPageSize counts what a caller that wants few objects makes the API read.
func TestPageSize(t *testing.T) {
	for wanted, sizes := range map[int64]string{0: "1000", -1: "1000", 2: "2 2 2", 5: "5", 100: "100", 1000: "1000", 5000: "1000"} {
		f := newFakeAPI().withDomains(5)
		n := 0
		for _, err := range f.client(t).ListDomains(WithPageSize(t.Context(), wanted), api.ListDomainsRequest{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if got := f.sizesAsked(); n != 5 || got != sizes {
			t.Errorf("wanting %d: %d objects in pages of %s, want %s", wanted, n, got, sizes)
		}
	}
}
