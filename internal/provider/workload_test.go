package provider_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestWorkloadIdentityErrors checks that each error of a job's identity token names its source, or its
// claims, and the next step, against a server with a trust file. No error quotes the token.
func TestWorkloadIdentityErrors(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.ES256}}}
	web := httptest.NewServer(issuer)
	t.Cleanup(web.Close)
	issuer.SetIssuer(web.URL)
	const audience = "https://mail-api.example.com"
	sign := func(changes map[string]any) string {
		claims := map[string]any{"iss": web.URL, "sub": "repo:acme/mail:environment:production", "aud": audience, "exp": time.Now().Add(time.Hour).Unix(), "repository": "acme/mail", "environment": "production"}
		maps.Copy(claims, changes)
		text, err := json.Marshal(claims)
		assert.NilError(t, err)
		return oidctest.SignIDToken(key, "k", oidc.ES256, string(text))
	}
	trusted, err := oauth.ReadTrust(fmt.Appendf(nil, `{"issuers": [{"issuer": %q, "audience": %q, "workloads": [{"name": "apply", "claims": {"repository": "acme/mail", "environment": "production"}}]}]}`, web.URL, audience), nil, nil)
	assert.NilError(t, err)
	s := acctest.NewServer(t, acctest.Options{Tokens: trusted})
	s.Domain(t, "example.com")

	responses := map[string]string{"html": "<html>", "good": fmt.Sprintf(`{"value":%q}`, sign(nil))}
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := responses[r.URL.Path[1:]]; ok {
			fmt.Fprint(w, text)
			return
		}
		http.Error(w, `{"message":"r3quest"}`, http.StatusForbidden)
	}))
	t.Cleanup(github.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	read := func(t *testing.T, block map[string]any) string {
		t.Helper()
		if _, set := block["audience"]; !set {
			block["audience"] = audience
		}
		_, diags := s.ProtocolByWorkload(t, block).ReadData("mailhost_domain", map[string]any{"name": "example.com"})
		return acctest.Render(diags)
	}

	for name, c := range map[string]struct {
		file    string // its text; "": no file
		env     map[string]string
		path    string
		api     string
		want    []string
		without string
	}{
		"no file":               {path: file + ".gone", want: []string{file + ".gone", "no such file", "workload_identity.token_file", "MAILHOST_ID_TOKEN_FILE"}},
		"a folder":              {path: dir, want: []string{dir, "is a directory", "token_file"}},
		"empty":                 {file: "\n", want: []string{"the file " + file + " is empty"}},
		"a service account":     {file: "mhsa_a_s3cret", want: []string{file, "is a service account's token", "MAILHOST_TOKEN"}},
		"JSON":                  {file: `{"value":"` + sign(nil) + `"}`, want: []string{file, "is no signed JWT", "JSON"}},
		"a path in a variable":  {env: map[string]string{"MAILHOST_ID_TOKEN": "/run/token"}, want: []string{"in MAILHOST_ID_TOKEN is no signed JWT", "MAILHOST_ID_TOKEN_FILE"}},
		"no expiry":             {file: sign(map[string]any{"exp": nil}), want: []string{file, "no exp claim"}},
		"another audience":      {file: sign(map[string]any{"aud": "vault"}), want: []string{file, `is for the audience ["vault"]`, `workload_identity.audience is "` + audience + `"`, "id_tokens"}},
		"expired":               {file: sign(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}), want: []string{"HTTP 401", "the file " + file, "It has expired", "renew the token"}},
		"unknown issuer":        {env: map[string]string{"MAILHOST_ID_TOKEN": sign(map[string]any{"iss": "https://other.example"})}, want: []string{"from another issuer", "HTTP 401", "MAILHOST_ID_TOKEN", `iss "https://other.example"`, "mailhostd serve --trust"}},
		"audience of the API":   {file: sign(map[string]any{"aud": "mailhost"}), api: "mailhost", want: []string{"its aud claim does not name it", `aud ["mailhost"]`, "mailhostd serve --trust"}},
		"claims":                {file: sign(map[string]any{"environment": "test", "sub": "repo:acme/mail:environment:test"}), want: []string{"apply needs environment production", `sub "repo:acme/mail:environment:test"`, "mailhostd serve --trust"}},
		"no grant":              {file: sign(nil), want: []string{"HTTP 403", `sub "repo:acme/mail:environment:production"`, "mailhostd grant add --workload"}},
		"GitHub refuses":        {env: map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": github.URL + "/none", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r3quest"}, want: []string{"GitHub issued no identity token", "HTTP 403", audience, "id-token: write"}},
		"no response by GitHub": {env: map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": "http://127.0.0.1:1/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r3quest"}, want: []string{"GitHub issued no identity token", "connection refused", "reaches 127.0.0.1:1", "ACTIONS_ID_TOKEN_REQUEST_URL"}},
		"a page for GitHub":     {env: map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": github.URL + "/html", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r3quest"}, want: []string{"GitHub issued no identity token", "is not JSON"}},
		"no grant by GitHub":    {env: map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": github.URL + "/good", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "r3quest"}, want: []string{"HTTP 403", "GitHub's response", "mailhostd grant add --workload"}},
	} {
		t.Run(name, func(t *testing.T) {
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			block := map[string]any{}
			if c.path != "" {
				block["token_file"] = c.path
			}
			if c.file != "" {
				assert.NilError(t, os.WriteFile(file, []byte(c.file), 0o600))
				block["token_file"] = file
			}
			if c.api != "" {
				block["audience"] = c.api
			}
			text := read(t, block)
			acctest.ExpectText(t, text, c.want...)
			for _, never := range []string{"eyJ", "s3cret", "r3quest", "base_url", "oauth2"} {
				assert.Check(t, !strings.Contains(text, never), "contains %s: %s", never, text)
			}
			assert.Check(t, !strings.Contains(text, "MAILHOST_TOKEN") || name == "a service account", "%s", text)
		})
	}
	assert.NilError(t, os.WriteFile(file, []byte(sign(nil)), 0o600))
	// The plan of a create asks first whether the credential may use the account at all.
	_, diags := s.ProtocolByWorkload(t, map[string]any{"audience": audience, "token_file": file}).Plan("mailhost_forwarding", map[string]any{"target_email": "joe@example.net"}, nil)
	acctest.Expect(t, diags, "ERROR: Can't use the account", "no access to the account", file, "mailhostd grant add --workload")
	_, diags = acctest.NewServer(t, acctest.Options{}).ProtocolByWorkload(t, map[string]any{"audience": audience, "token_file": file}).ReadData("mailhost_domain", map[string]any{"name": "example.com"})
	acctest.Expect(t, diags, "accepts no access tokens of an issuer", file, "mailhostd serve --trust")
	s.Owner(t).GrantTo(vocab.SubjectUser, "workload:apply", apitest.Grant{Capability: vocab.CapDomainView})
	text := read(t, map[string]any{"token_file": file})
	assert.Check(t, text == "", "with the grant: %s", text)
}
