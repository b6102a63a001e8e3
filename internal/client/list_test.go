package client

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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

func TestAuthorizations(t *testing.T) {
	f := fakeapi.New()
	f.Add("auth/authorizations", fakeapi.Object{"grant_kind": "account_owner"}, fakeapi.Object{"grant_kind": "super_admin"})
	c := newClient(t, f)
	all := func(req api.ListAuthorizationsRequest) ([]api.Authorization, error) {
		return filter(c.ListAuthorizations(t.Context(), req), func(*api.Authorization) bool { return true })
	}
	list, err := all(api.ListAuthorizationsRequest{IncludeRevoked: true})
	assert.Check(t, err == nil && len(list) == 2, "%v, %v", list, err)
	if got := f.Requests[0].Query.Encode(); got != "include_revoked=true" {
		t.Error(got)
	}
	f.Add("workspaces", fakeapi.Object{"name": "Sales"})
	found, err := filter(c.ListWorkspaces(t.Context()), func(w *api.Workspace) bool { return w.ID != "" })
	assert.Check(t, err == nil && len(found) == 1, "workspaces %v, %v", found, err)
	f.Fail(fakeapi.Fault{Op: "list-authorizations", Text: "null"})
	list, err = all(api.ListAuthorizationsRequest{})
	assert.Check(t, err == nil && len(list) == 0, "null: %v, %v", list, err)
	f.Fail(fakeapi.Fault{Op: "list-authorizations", Text: "{}"})
	_, err = all(api.ListAuthorizationsRequest{})
	assert.Check(t, err != nil, "{} is no list")
}

// TestPageSize counts the objects that the API reads for a caller that needs few.
func TestPageSize(t *testing.T) {
	for wanted, sizes := range map[int64]string{0: "1000", -1: "1000", 2: "2 2 2", 5: "5", 100: "100", 1000: "1000", 5000: "1000"} {
		f := withDomains(5)
		n := 0
		for _, err := range newClient(t, f).ListDomains(WithPageSize(t.Context(), wanted), api.ListDomainsRequest{}) {
			assert.NilError(t, err)
			n++
		}
		got := pageSizes(f)
		assert.Check(t, n == 5 && got == sizes, "wanting %d: %d objects in pages of %s, want %s", wanted, n, got, sizes)
	}
}

// TestPageSizeIsRemembered checks that a refused page size is not requested again.
func TestPageSizeIsRemembered(t *testing.T) {
	f := withDomains(1)
	f.RejectsSize = 500
	c := newClient(t, f)
	for range 3 {
		_, err := domainNames(c, t)
		assert.NilError(t, err)
	}
	assert.Check(t, is.Equal(f.Count("list-domains"), 4), "requests")
}
