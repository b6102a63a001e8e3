package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestEveryFilterIsSent sets each filter of the contract in the plural data source and in
// the list resource, and looks for it in the request.
func TestEveryFilterIsSent(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	var log requests
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		log.add(r.URL)
		next.ServeHTTP(w, r)
	}))
	eachFilter(t, s, p, func(f filter) {
		p.NoErrors(f.use())
		sent := log.take(f.path, f.name)
		byID := f.name == "domain" && len(sent) > 0
		assert.Check(t, byID || slices.Contains(sent, fmt.Sprint(f.value)), "%s does not send %s = %v with %s: pass it on in List of the package's definition", f.of, f.name, f.value, f.path)
	})
}

// TestRefusedFilterIsNamed checks that the error about a filter that the API refuses names
// it.
func TestRefusedFilterIsNamed(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	var refused atomic.Pointer[filter]
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if f := refused.Load(); r.URL.Path == f.path {
			acctest.Refuse(w, http.StatusUnprocessableEntity, "query."+f.name, "not this one")
			return
		}
		next.ServeHTTP(w, r)
	}))
	eachFilter(t, s, p, func(f filter) {
		refused.Store(&f)
		acctest.Expect(t, f.use(), fmt.Sprintf("ERROR at AttributeName(%q): Can't list the ", f.name), "Not this one.")
	})
}

// filter is a filter of a data source or of a list resource.
type filter struct {
	of, path, name string
	value          any
	use            func() []*tfprotov6.Diagnostic
}

// eachFilter calls a function for each filter in the contract. It fails if the schemas
// have other filters.
func eachFilter(t *testing.T, s *acctest.Server, p *acctest.Protocol, do func(filter)) {
	t.Helper()
	all := schemas(t)
	lists := 0
	for _, spec := range api.Specs() {
		values := filtersOf(s, spec.Request)
		noList := []string{api.CheckDomainAvailability.ID, api.ListAuditLog.ID, api.ListCreations.ID} // of the provider
		if spec.Method != http.MethodGet || len(values) == 0 || slices.Contains(noList, spec.ID) {
			continue
		}
		lists++
		path := strings.ReplaceAll(spec.Path, "{account_id}", s.AccountID)
		for of, list := range listers(t, p, all, pluralOf(spec)) {
			expectFilters(t, of, list.schema, values)
			for name, value := range values {
				use := func() []*tfprotov6.Diagnostic { return list.by(map[string]any{name: value}) }
				do(filter{of: of, path: path, name: name, value: value, use: use})
			}
		}
	}
	assert.Check(t, lists >= 7, "only %d lists with filters were found", lists)
}

// requests records the requests to a server.
type requests struct {
	mu  sync.Mutex
	all []*url.URL
}

func (r *requests) add(u *url.URL) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, u)
}

// take returns the values of a query parameter on a path since the last call.
func (r *requests) take(path, parameter string) (sent []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range r.all {
		if q := u.Query(); u.Path == path && q.Get(parameter) != "" {
			sent = append(sent, q.Get(parameter))
		}
	}
	r.all = nil
	return sent
}

// lister is a data source or a list resource.
type lister struct {
	schema *tfprotov6.Schema
	by     func(config map[string]any) []*tfprotov6.Diagnostic
}

// listers returns a plural data source and its list resource, if there is one.
func listers(t *testing.T, p *acctest.Protocol, all *tfprotov6.GetProviderSchemaResponse, plural string) map[string]lister {
	t.Helper()
	found := map[string]lister{"data." + plural: {all.DataSourceSchemas[plural], func(config map[string]any) []*tfprotov6.Diagnostic {
		o, diags := p.ReadData(plural, config)
		if len(diags) == 0 {
			expectKept(t, plural, o, config)
		}
		return diags
	}}}
	for name, s := range all.ListResourceSchemas {
		if plural == pluralName(name) {
			found["list."+name] = lister{s, func(config map[string]any) []*tfprotov6.Diagnostic {
				_, diags := p.List(name, config, 10)
				return diags
			}}
		}
	}
	return found
}

// expectKept fails unless the state of a data source has its configuration.
func expectKept(t *testing.T, name string, o *acctest.Object, config map[string]any) {
	t.Helper()
	var fields map[string]tftypes.Value
	assert.NilError(t, o.State.As(&fields))
	for attribute, want := range config {
		got := fields[attribute]
		assert.Check(t, got.Equal(tftypes.NewValue(got.Type(), want)), "%s of data.%s is %s, not the configuration's %v", attribute, name, got, want)
	}
}

// filtersOf returns a value for each filter of a list's request, by name.
func filtersOf(s *acctest.Server, request reflect.Type) map[string]any {
	filters := map[string]any{}
	for _, f := range reflect.VisibleFields(request) {
		name := f.Tag.Get("query")
		first, _, choice := strings.Cut(f.Tag.Get("enum"), ",")
		switch {
		case name == "" || strings.HasPrefix(name, "page"):
		case f.Type.Kind() == reflect.Bool:
			filters[name] = true
		case choice:
			filters[name] = first
		case name == "domain":
			filters[name] = "example.com"
		case name == "country_code":
			filters[name] = "DE"
		case f.Tag.Get("format") == "uuid":
			filters[name] = s.WorkspaceID
		case f.Tag.Get("format") == "date-time":
			filters[name] = "2026-01-31T12:00:00Z"
		default:
			filters[name] = "www"
		}
	}
	return filters
}

// pluralOf returns the name of the data source for an operation that lists.
func pluralOf(list api.Spec) string {
	for typeName := range definitions() {
		if slices.ContainsFunc(operations(typeName), func(s api.Spec) bool { return s.ID == list.ID }) {
			return pluralName(typeName)
		}
	}
	return "mailhost_" + strings.ReplaceAll(strings.TrimPrefix(list.ID, "list-"), "-", "_")
}

// expectFilters fails unless a schema has exactly the contract's filters.
func expectFilters(t *testing.T, name string, s *tfprotov6.Schema, filters map[string]any) {
	t.Helper()
	assert.Assert(t, s != nil, "there is no %s for a list of the contract", name)
	var got []string
	for _, a := range s.Block.Attributes {
		if a.Optional {
			got = append(got, a.Name)
		}
	}
	slices.Sort(got)
	want := slices.Sorted(maps.Keys(filters))
	assert.Check(t, slices.Equal(got, want), "%s has the filters %q, the contract %q", name, got, want)
}
