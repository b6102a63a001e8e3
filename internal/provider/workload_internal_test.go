package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func workloadBlock(audience, tokenFile types.String) types.Object {
	return types.ObjectValueMust(workloadAttrs, map[string]attr.Value{"audience": audience, "token_file": tokenFile})
}

// TestWorkloadIdentitySettings checks when the job's own tokens are the credential, and what is
// said if there are none.
func TestWorkloadIdentitySettings(t *testing.T) {
	t.Parallel()
	none := types.StringNull()
	remote := map[string]string{envBaseURL: remoteURL, envAccountID: accountID}
	github := map[string]string{envRequestURL: "https://ci.test/?api-version=2", envRequestToken: "r"}
	for name, c := range map[string]struct {
		block types.Object
		env   []map[string]string
		want  *workloadIdentity
		diags []string
		// detail is in the first diagnostic.
		detail string
	}{
		"GitHub":                     {block: workloadBlock(types.StringValue("mailhost"), none), env: []map[string]string{github}, want: &workloadIdentity{audience: "mailhost", requestURL: "https://ci.test/?api-version=2", requestToken: "r"}},
		"GitLab":                     {block: workloadBlock(types.StringValue("mailhost"), none), env: []map[string]string{{envIDToken: " jwt\n"}}, want: &workloadIdentity{audience: "mailhost", token: "jwt"}},
		"a file":                     {block: workloadBlock(types.StringValue("mailhost"), types.StringValue("/run/token")), want: &workloadIdentity{audience: "mailhost", tokenFile: "/run/token"}},
		"by variables":               {block: types.ObjectNull(workloadAttrs), env: []map[string]string{{envAudience: "mailhost", envIDTokenFile: "/run/token"}}, want: &workloadIdentity{audience: "mailhost", tokenFile: "/run/token"}},
		"over the token":             {block: workloadBlock(types.StringValue("mailhost"), none), env: []map[string]string{github, {envToken: "s3cret"}}, want: &workloadIdentity{audience: "mailhost", requestURL: "https://ci.test/?api-version=2", requestToken: "r"}},
		"a token in variable":        {block: types.ObjectNull(workloadAttrs), env: []map[string]string{github, {envAudience: "mailhost", envToken: "s3cret"}}},
		"no audience":                {block: workloadBlock(none, none), env: []map[string]string{github}, diags: []string{"error workload_identity.audience: Missing workload_identity.audience"}},
		"no audience for a variable": {block: types.ObjectNull(workloadAttrs), env: []map[string]string{{envIDToken: "jwt"}}, diags: []string{"error workload_identity.audience: Missing workload_identity.audience"}, detail: "The token in MAILHOST_ID_TOKEN is ignored"},
		"no audience for a file":     {block: types.ObjectNull(workloadAttrs), env: []map[string]string{{envIDTokenFile: "/run/token"}}, diags: []string{"error workload_identity.audience: Missing workload_identity.audience"}, detail: "The token in the file /run/token is ignored"},
		"an empty audience":          {block: types.ObjectNull(workloadAttrs), env: []map[string]string{{envIDTokenFile: "/run/token", envAudience: " "}}, diags: []string{"error workload_identity.audience: Missing workload_identity.audience"}, detail: "MAILHOST_AUDIENCE"},
		"a token over a file":        {block: types.ObjectNull(workloadAttrs), env: []map[string]string{{envIDTokenFile: "/run/token", envToken: "s3cret"}}},
		"no audience for token_file": {block: workloadBlock(none, types.StringValue("/run/token")), diags: []string{"error workload_identity.audience: Missing workload_identity.audience"}, detail: "The token in the file /run/token is ignored"},
		"no source":                  {block: workloadBlock(types.StringValue("mailhost"), none), env: []map[string]string{{envRequestURL: "https://ci.test"}}, diags: []string{"error workload_identity: This job has no identity token"}},
	} {
		env := func(name string) (string, bool) {
			for _, m := range append(c.env, remote) {
				if v, ok := m[name]; ok {
					return v, true
				}
			}
			return "", false
		}
		s, diags := block(func(b *config) { b.WorkloadIdentity = c.block }).resolve(t.Context(), env)
		assert.Check(t, is.DeepEqual(brief(diags), c.diags), name)
		if len(c.diags) > 0 {
			assert.Check(t, len(diags) > 0 && strings.Contains(diags[0].Detail(), c.detail), "%s: %v", name, diags)
			continue
		}
		if (s.workload == nil) != (c.want == nil) || c.want != nil && (*s.workload != *c.want || s.token != "") {
			t.Errorf("%s: %+v, token %q; want %+v", name, s.workload, s.token, c.want)
		}
	}
}

// TestWorkloadTokens reads tokens from GitHub, a file and a variable.
func TestWorkloadTokens(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.NilError(t, err)
	expiry := time.Now().Add(5 * time.Minute).Truncate(time.Second)
	token := func(audience string) string {
		return oidctest.SignIDToken(key, "k", oidc.ES256, fmt.Sprintf(`{"aud":%q,"exp":%d}`, audience, expiry.Unix()))
	}
	status := http.StatusOK
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, r.Header.Get("Authorization") == "Bearer r" && r.URL.Query().Get("api-version") == "2", "request %s %v", r.URL, r.Header)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"value":%q}`, token(r.URL.Query().Get("audience")))
	}))
	t.Cleanup(github.Close)
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	sources := map[string]*workloadIdentity{
		"GitHub":   {requestURL: github.URL + "/?api-version=2", requestToken: "r"},
		"variable": {token: token("https://mail.example.com")},
		"file":     {tokenFile: file},
	}
	write(token("https://mail.example.com") + "\n")
	for name, w := range sources {
		w.audience = "https://mail.example.com"
		got, err := w.Token()
		assert.Check(t, err == nil && got.Expiry.Equal(expiry), "%s: %v, %v", name, got, err)
	}

	fails := func(name, want string) {
		t.Helper()
		_, err := sources[name].Token()
		assert.Check(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "eyJ"), "%s: %v; want …%s…", name, err, want)
	}
	status = http.StatusForbidden
	fails("GitHub", "HTTP 403")
	write(token("https://kubernetes.default.svc"))
	fails("file", `for the audience ["https://kubernetes.default.svc"]`)
	write("s3cret")
	fails("file", "is no signed JWT")
	sources["file"].tokenFile += ".gone"
	fails("file", "no such file")
}
