package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func withDomains(n int) *fakeapi.API {
	f := fakeapi.New()
	for i := range n {
		f.Add("domains", fakeapi.Object{"name": fmt.Sprintf("d%04d.example", i)})
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

// pageSizes returns the page_size of each request.
func pageSizes(f *fakeapi.API) string {
	var sizes []string
	for _, r := range f.Requests {
		sizes = append(sizes, r.Query.Get("page_size"))
	}
	return strings.Join(sizes, " ")
}

func TestPages(t *testing.T) {
	for _, tc := range []struct {
		name    string
		objects int
		change  func(*fakeapi.API)
		sizes   string // page_size of each request
		err     string
	}{
		{"empty", 0, func(*fakeapi.API) {}, "1000", ""},
		{"a full page", 1000, func(*fakeapi.API) {}, "1000", ""},
		{"two pages", 1001, func(*fakeapi.API) {}, "1000 1000", ""},
		{"a smaller page is followed", 5, func(f *fakeapi.API) { f.MaxPageSize = 2 }, "1000 2 2", ""},
		{"422 twice", 250, func(f *fakeapi.API) { f.RejectsSize = 100 }, "1000 500 100 100 100", ""},
		{"page ignored", 4, func(f *fakeapi.API) { f.MaxPageSize, f.IgnoresPage = 2, true }, "1000 2", "repeats"},
		{"page ignored, all on it", 5, func(f *fakeapi.API) { f.IgnoresPage = true }, "1000", ""},
		{"another page than requested", 3, func(f *fakeapi.API) {
			f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{"items":[{"id":"x"}],"page":7,"page_size":1,"total":9}`})
		}, "1000", "page 7 returned"},
		{"a total that is never reached", 0, func(f *fakeapi.API) {
			f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{"items":[{"id":"x"}],"page_size":2,"total":3}`},
				fakeapi.Fault{Op: "list-domains", Text: `{"items":[],"page_size":2,"total":3}`})
		}, "1000 2", "after 1 of 3"},
		{"an object without id", 0, func(f *fakeapi.API) { f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{"items":[{}],"total":1}`}) }, "1000", "without an id"},
		{"no page at all", 3, func(f *fakeapi.API) { f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{}`}) }, "1000", "no page"},
		{"a page of null items", 0, func(f *fakeapi.API) {
			f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{"items":null,"page":1,"page_size":1000}`})
		}, "1000", ""},
		{"no total, short page", 0, func(f *fakeapi.API) {
			f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{"items":[{"id":"x"}],"page_size":2}`})
		}, "1000", ""},
		{"nothing but items", 0, func(f *fakeapi.API) {
			f.Fail(fakeapi.Fault{Op: "list-domains", Text: `{"items":[{"id":"x"}]}`}, fakeapi.Fault{Op: "list-domains", Text: `{"items":[]}`})
		}, "1000 1000", ""},
		{"a page size that shrinks in the middle", 4, func(f *fakeapi.API) {
			f.MaxPageSize = 2
			f.OnList = func() {
				if f.Count("list-domains") == 1 {
					f.MaxPageSize = 1
				}
			}
		}, "1000 2 1 1 1 1", ""},
		{"500 in the middle is retried", 3, func(f *fakeapi.API) {
			f.MaxPageSize = 2
			f.Fail(fakeapi.Fault{Op: "list-domains", Text: ""}, fakeapi.Fault{Op: "list-domains", Status: 500})
		}, "1000 2 2", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := withDomains(tc.objects)
			tc.change(f)
			names, err := domainNames(newClient(t, f), t)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if tc.err == "" && tc.objects > 0 && (len(names) != tc.objects || !slices.IsSorted(names)) {
				t.Errorf("%d objects, want %d", len(names), tc.objects)
			}
			if len(f.Requests) > 0 && f.Requests[0].Query.Get("page") != "1" {
				t.Errorf("page %s first", f.Requests[0].Query.Get("page"))
			}
			if got := pageSizes(f); got != tc.sizes {
				t.Errorf("page sizes %s, want %s", got, tc.sizes)
			}
		})
	}
}

func TestListStopsEarly(t *testing.T) {
	f := withDomains(10)
	f.MaxPageSize = 2
	n := 0
	for _, err := range newClient(t, f).ListDomains(WithPageSize(t.Context(), 2), api.ListDomainsRequest{}) {
		if n++; err != nil || n == 3 {
			break
		}
	}
	if n != 3 || f.Count("list-domains") != 2 {
		t.Errorf("%d objects, %v", n, f.Sent())
	}
}

func TestListThatNeverRests(t *testing.T) {
	f := withDomains(60)
	f.MaxPageSize = 2
	f.OnList = func() { f.Remove("domains", 0) }
	if _, err := domainNames(newClient(t, f), t); err == nil || !strings.Contains(err.Error(), "changed under") {
		t.Errorf("%v after %d requests", err, len(f.Sent()))
	}
}

func TestAuthorizations(t *testing.T) {
	f := fakeapi.New()
	f.Add("auth/authorizations", fakeapi.Object{"grant_kind": "account_owner"}, fakeapi.Object{"grant_kind": "super_admin"})
	c := newClient(t, f)
	all := func(req api.ListAuthorizationsRequest) ([]api.Authorization, error) {
		return filter(c.ListAuthorizations(t.Context(), req), func(*api.Authorization) bool { return true })
	}
	list, err := all(api.ListAuthorizationsRequest{IncludeRevoked: true})
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if got := f.Requests[0].Query.Encode(); got != "include_revoked=true" {
		t.Error(got)
	}
	f.Fail(fakeapi.Fault{Op: "list-authorizations", Text: "null"})
	if list, err := all(api.ListAuthorizationsRequest{}); err != nil || len(list) != 0 {
		t.Errorf("null: %v, %v", list, err)
	}
	f.Fail(fakeapi.Fault{Op: "list-authorizations", Text: "{}"})
	if _, err := all(api.ListAuthorizationsRequest{}); err == nil {
		t.Error("{} is no list")
	}
}

// TestPageSize counts the objects that the API reads for a caller that needs few.
func TestPageSize(t *testing.T) {
	for wanted, sizes := range map[int64]string{0: "1000", -1: "1000", 2: "2 2 2", 5: "5", 100: "100", 1000: "1000", 5000: "1000"} {
		f := withDomains(5)
		n := 0
		for _, err := range newClient(t, f).ListDomains(WithPageSize(t.Context(), wanted), api.ListDomainsRequest{}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if got := pageSizes(f); n != 5 || got != sizes {
			t.Errorf("wanting %d: %d objects in pages of %s, want %s", wanted, n, got, sizes)
		}
	}
}

// TestPageSizeIsRemembered checks that a refused page size is not requested again.
func TestPageSizeIsRemembered(t *testing.T) {
	f := withDomains(1)
	f.RejectsSize = 500
	c := newClient(t, f)
	for range 3 {
		if _, err := domainNames(c, t); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.Count("list-domains"); n != 4 {
		t.Errorf("%d requests", n)
	}
}
