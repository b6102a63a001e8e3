package apiserver_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// fuzzed returns a service for all inputs of a fuzz target. Its account contains one object of each
// kind.
func fuzzed(f *testing.F) *apiserver.Service {
	f.Helper()
	s, err := sqlite.Open(f.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(f, err)
	svc, err := apiserver.New(apiserver.Options{Store: s, Clock: new(apitest.Clock).Now})
	assert.NilError(f, err)
	f.Cleanup(func() {
		assert.Check(f, svc.Close())
	})
	fixture, err := fixture.Read(strings.NewReader(`{"accounts":[{"id":"` + accountID + `","domains":[{"name":"example.com",
		"mailboxes":[{"local_part":"jane","first_name":"Jane","last_name":"Doe"}],"forwarding":[{"target_email":"x@example.net"}]}]}]}`))
	assert.NilError(f, err)
	assert.NilError(f, svc.LoadFixture(f.Context(), fixture))
	return svc
}

// operationPath returns an operation's path with a parameter filled in.
func operationPath(spec api.Spec, parameter string) string {
	path := strings.TrimPrefix(spec.Path, api.Prefix)
	for strings.Contains(path, "{") {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + parameter + after
	}
	return path
}

// FuzzBody sends any body to any operation. The response must conform to the API's document and
// must not be a server error.
func FuzzBody(f *testing.F) {
	svc := fuzzed(f)
	var specs []api.Spec
	for _, spec := range api.Specs() {
		if _, ok := spec.Request.FieldByName("Body"); ok {
			specs = append(specs, spec)
		}
	}
	for i := range specs {
		for _, body := range []string{
			`{}`, `[]`, `null`, `{"name":1,"domain":"example.com","local_part":"a","first_name":"\u0000","last_name":"ﬀ"}`, `{"domain":`,
			`{"domain":"EXAMPLE.com","type":"TXT","name":"@","value":"\"a\" \"b\"","ttl":6e1}`, `{"target_email":"ü@exa mple","workspace_id":"x"}`,
			`{"attributes":{"a":{"b":[1e999,-0,1.5]}},"title":"t","description":"d"}`, strings.Repeat("[", 100), "\xff\xfe{}", `{"items":[{"local_part":null}]}`,
		} {
			f.Add(i, "example.com", []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, operation int, parameter string, body []byte) {
		if operation < 0 || operation >= len(specs) || len(body) == 0 {
			t.Skip()
		}
		spec := specs[operation]
		c := &apitest.Client{T: t, HTTP: svc.OwnerClient(accountID), Account: accountID}
		a := c.Do(spec.Method, operationPath(spec, url.PathEscape(parameter)), string(body))
		assert.Check(t, a.Status < 500, a)
	})
}

// FuzzQuery sends any query to any list. A successful response must contain the requested
// page.
func FuzzQuery(f *testing.F) {
	svc := fuzzed(f)
	var lists []api.Spec
	for _, spec := range api.Specs() {
		if spec.Method == http.MethodGet {
			lists = append(lists, spec)
		}
	}
	for i := range lists {
		for _, query := range []string{
			"page=1&page_size=25", "page=0", "page=-1", "page=9223372036854775808", "page=+1", "page=%31", "page=1&page=2", "page_size=1001", "page_size=1e3",
			"search=%25_%5c", "search=%ff", "search=%00", "status=", "domain=%E4%BE%8B%E3%81%88.jp", "tag=a;b", "&&=&", "page", "include_revoked=TRUE", "workspace_id=%7b",
		} {
			f.Add(i, query)
		}
	}
	f.Fuzz(func(t *testing.T, operation int, query string) {
		if operation < 0 || operation >= len(lists) || strings.ContainsAny(query, "#") {
			t.Skip()
		}
		path := operationPath(lists[operation], "example.com") + "?" + query
		if _, err := url.ParseRequestURI("http://mailhost.test" + path); err != nil {
			t.Skip() // such a request can't be sent
		}
		c := &apitest.Client{T: t, HTTP: svc.OwnerClient(accountID), Account: accountID}
		a := c.Do(http.MethodGet, path, nil)
		values, err := url.ParseQuery(query)
		switch {
		case a.Status >= 500:
			t.Errorf("%s", a)
		case a.Status != http.StatusOK || err != nil || a.At("page") == nil:
			return
		}
		for name, byDefault := range map[string]int{"page": 1, "page_size": 25} {
			want := byDefault
			if text := values.Get(name); text != "" {
				if want, err = strconv.Atoi(text); err != nil {
					t.Errorf("%s is accepted as a number: %s", text, a)
				}
			}
			a.Is(name, want)
		}
	})
}
