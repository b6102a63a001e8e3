package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"golang.org/x/oauth2/clientcredentials"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

func accountOf(t *testing.T, s settings) string {
	t.Helper()
	c, err := s.open(t.Context(), &process{}, "test")
	assert.NilError(t, err)
	a, err := c.GetAccount(t.Context())
	assert.NilError(t, err)
	return a.ID
}

// TestOpenEmbedded opens one data directory several times, like the processes of one
// terraform apply.
func TestOpenEmbedded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "data")
	first := accountOf(t, settings{dataDir: dir})
	assert.Check(t, is.Equal(accountOf(t, settings{dataDir: dir}), first), "the second open returns the account")
	assert.Check(t, is.Equal(accountOf(t, settings{dataDir: dir, accountID: accountID}), accountID), "the account")
	ignore, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	assert.Check(t, err == nil && string(ignore) == "*\n", ".gitignore: %q, %v", ignore, err)
	info, err := os.Stat(dir)
	assert.Check(t, err == nil && info.Mode().Perm() == 0o700, "the directory's mode is %v, %v", info.Mode(), err)
	const unknown = "00000000-0000-4000-8000-00000000acc9"
	_, err = settings{dataDir: dir, accountID: unknown, accountFromEnv: true}.open(t.Context(), &process{}, "test")
	assert.Check(t, err != nil && strings.Contains(err.Error(), envAccountID) && !strings.Contains(err.Error(), "of the two"), "an account of the environment: %v", err)
	_, err = settings{dataDir: dir}.open(t.Context(), &process{}, "test")
	assert.Check(t, err != nil && strings.Contains(err.Error(), first) && strings.Contains(err.Error(), accountID), "with two accounts: %v", err)
}

func TestOpenEmbeddedFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	assert.NilError(t, os.WriteFile(file, []byte("{"), 0o600))
	for name, c := range map[string]struct {
		settings settings
		want     string
	}{
		"a file":     {settings{dataDir: file}, "directory " + file + " can't be used"},
		"no fixture": {settings{dataDir: dir, fixture: filepath.Join(dir, "missing.json")}, "can't read embedded.fixture: "},
		"no JSON":    {settings{dataDir: dir, fixture: file}, "can't read embedded.fixture " + file},
	} {
		_, err := c.settings.open(t.Context(), &process{}, "test")
		assert.Check(t, err != nil && strings.Contains(err.Error(), c.want), "%s: %v", name, err)
	}
	accountOf(t, settings{dataDir: dir}) // a failed open has no effect
}

// TestFixtureChanged checks that a fixture that is not loaded again is not ignored in
// silence.
func TestFixtureChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := settings{dataDir: filepath.Join(dir, "data"), fixture: filepath.Join(dir, "account.json")}
	write := func(text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(s.fixture, []byte(text), 0o600))
	}
	warnings := func() int {
		var diags diag.Diagnostics
		s.warnFixtureChanged(&diags)
		return diags.WarningsCount()
	}
	const format = `{"accounts": [{"id": "00000000-0000-4000-8000-00000000acc1", "domains": [{"name": %q}]}]}`
	write(fmt.Sprintf(format, "example.com"))
	assert.Check(t, is.Equal(warnings(), 0), "warnings before the account exists")
	accountOf(t, s)
	assert.Check(t, is.Equal(warnings(), 0), "warnings about the fixture that was loaded")
	write(fmt.Sprintf(format, "example.org"))
	for range 2 { // the account is opened again meanwhile
		assert.Check(t, is.Equal(warnings(), 1), "warnings about a changed fixture")
		accountOf(t, s)
	}
}

// TestOpenRemote checks the requests to a remote API and an OAuth issuer.
func TestOpenRemote(t *testing.T) {
	t.Parallel()
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		seen = append(seen, fmt.Sprintf("%s %s %s %s", r.FormValue("grant_type"), r.FormValue("scope"), id, secret))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"from-the-issuer","token_type":"Bearer","expires_in":3600}`)
	})
	mux.HandleFunc("/base/", func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.UserAgent())
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items":[],"page":1,"page_size":1000,"total":0}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	list := func(s settings) {
		t.Helper()
		c, err := s.open(t.Context(), &process{}, "agent/1")
		assert.NilError(t, err)
		if _, err := c.FindDomain(t.Context(), "example.com"); !errors.Is(err, client.ErrNotFound) {
			t.Error(err)
		}
	}
	path := "/base" + strings.ReplaceAll(api.Prefix, "{account_id}", accountID) + "/domains"
	s := settings{accountID: accountID, baseURL: server.URL + "/base", token: "s3cret"}
	list(s)
	s.token, s.oauth2 = "", &clientcredentials.Config{TokenURL: server.URL + "/token", ClientID: "id", ClientSecret: "s3cret", Scopes: []string{"a", "b"}}
	list(s)
	want := []string{path + " Bearer s3cret agent/1", "client_credentials a b id s3cret", path + " Bearer from-the-issuer agent/1"}
	assert.Check(t, strings.Join(seen, "\n") == strings.Join(want, "\n"), "seen:\n%s\nwant:\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
}

// TestSourceOutlivesCaller gets a token after the call that opened the client has
// returned.
func TestSourceOutlivesCaller(t *testing.T) {
	t.Parallel()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"a","token_type":"Bearer"}`)
	}))
	t.Cleanup(issuer.Close)
	ctx, cancel := context.WithCancel(t.Context())
	o := &clientcredentials.Config{TokenURL: issuer.URL, ClientID: "id", ClientSecret: "s3cret"}
	_, err := (settings{accountID: accountID, baseURL: remoteURL, oauth2: o}).open(ctx, &process{}, "test")
	assert.NilError(t, err)
	cancel()
	_, err = tokenSource(o).Token()
	assert.Check(t, err)
}

// TestIssuerThatRedirects checks that the client's secret goes to token_url alone.
func TestIssuerThatRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	issuer := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(issuer.Close)
	o := &clientcredentials.Config{TokenURL: issuer.URL, ClientID: "id", ClientSecret: "s3cret"}
	_, err := tokenSource(o).Token()
	assert.Check(t, err != nil, "no error")
}

// TestClose checks that the provider closes its database, so that the file is complete and
// the write-ahead log is empty.
func TestClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &process{}
	if _, err := (settings{dataDir: dir}).open(t.Context(), p, "test"); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, p.close())
	log, err := os.Stat(filepath.Join(dir, databaseName+"-wal"))
	assert.Check(t, err != nil || log.Size() == 0, "the log is not empty")
}

// TestCredentialAdvice checks that the advice names the settings of the credential in use, and no other.
func TestCredentialAdvice(t *testing.T) {
	t.Parallel()
	flow := settings{oauth2: &clientcredentials.Config{ClientID: "terraform", ClientSecret: "s3cret"}}
	for _, c := range []struct {
		settings
		status     int
		want, none string
	}{
		{settings{token: "s3cret"}, http.StatusUnauthorized, "MAILHOST_TOKEN", "oauth2"},
		{settings{token: "s3cret"}, http.StatusForbidden, "", ""},
		{flow, http.StatusUnauthorized, "the client terraform", "MAILHOST_TOKEN"},
		{flow, http.StatusForbidden, "", ""},
		{flow, 0, "token_url, client_id, client_secret", "MAILHOST_TOKEN"},
	} {
		got := c.advise(c.status, "s3cret")
		assert.Check(t, strings.Contains(got, c.want) && !strings.Contains(got, "s3cret") && (got != "") == (c.want != ""), "HTTP %d: %s", c.status, got)
		assert.Check(t, c.none == "" || !strings.Contains(got, c.none), "HTTP %d: %s", c.status, got)
	}
}
