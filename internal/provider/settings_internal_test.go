package provider

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/oauth2/clientcredentials"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	accountID = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	remoteURL = "https://api.example.com"
)

var (
	oauth2Attrs   = map[string]attr.Type{"token_url": types.StringType, "client_id": types.StringType, "client_secret": types.StringType, "scopes": types.ListType{ElemType: types.StringType}}
	workloadAttrs = map[string]attr.Type{"audience": types.StringType, "token_file": types.StringType}
	embeddedAttrs = map[string]attr.Type{"data_dir": types.StringType, "fixture": types.StringType}
)

// block is a provider block without arguments.
func block(edit func(*config)) config {
	c := config{OAuth2: types.ObjectNull(oauth2Attrs), WorkloadIdentity: types.ObjectNull(workloadAttrs), Embedded: types.ObjectNull(embeddedAttrs)}
	if edit != nil {
		edit(&c)
	}
	return c
}

func oauth2Block(tokenURL, clientID, clientSecret string, scopes ...string) types.Object {
	list := types.ListNull(types.StringType)
	if scopes != nil {
		values := make([]attr.Value, len(scopes))
		for i, s := range scopes {
			values[i] = types.StringValue(s)
		}
		list = types.ListValueMust(types.StringType, values)
	}
	return types.ObjectValueMust(oauth2Attrs, map[string]attr.Value{
		"token_url": types.StringValue(tokenURL), "client_id": types.StringValue(clientID), "client_secret": types.StringValue(clientSecret), "scopes": list,
	})
}

func embeddedBlock(dataDir, fixture types.String) types.Object {
	return types.ObjectValueMust(embeddedAttrs, map[string]attr.Value{"data_dir": dataDir, "fixture": fixture})
}

// brief formats a diagnostic as "severity attribute: summary".
func brief(diags diag.Diagnostics) []string {
	var all []string
	for _, d := range diags {
		at := ""
		if d, ok := d.(diag.DiagnosticWithPath); ok {
			at = " " + d.Path().String()
		}
		all = append(all, strings.ToLower(d.Severity().String())+at+": "+d.Summary())
	}
	return all
}

type settingsCase struct {
	config config
	env    map[string]string
	want   settings
	diags  []string
}

func (c settingsCase) run(t *testing.T) {
	t.Helper()
	got, diags := c.config.resolve(t.Context(), func(name string) (string, bool) { value, set := c.env[name]; return value, set })
	assert.Check(t, is.DeepEqual(brief(diags), c.diags), "diagnostics")
	for _, d := range diags {
		assert.Check(t, !strings.Contains(d.Detail(), "s3cret"), "the diagnostics contain the secret: %s", d.Detail())
	}
	assert.Check(t, diags.HasError() || reflect.DeepEqual(got, c.want), "settings %+v, want %+v", got, c.want)
}

func TestEmbeddedSettings(t *testing.T) {
	t.Parallel()
	none := types.StringNull()
	for name, c := range map[string]settingsCase{
		"nothing":     {config: block(nil), want: settings{dataDir: ".mailhost"}, diags: []string{"warning: Using an embedded account"}},
		"empty token": {config: block(func(c *config) { c.Token = types.StringValue(" ") }), want: settings{dataDir: ".mailhost"}, diags: []string{"warning: Using an embedded account"}},
		"empty environment": {
			config: block(nil), env: map[string]string{envAccountID: "", envToken: "", envDataDir: ""}, want: settings{dataDir: ".mailhost"}, diags: []string{"warning: Using an embedded account"},
		},
		"empty base_url":                  {config: block(func(c *config) { c.BaseURL = types.StringValue(" ") }), diags: []string{"error base_url: Empty base_url"}},
		"empty base_url and environment":  {config: block(func(c *config) { c.BaseURL = types.StringValue("") }), env: map[string]string{envBaseURL: remoteURL}, diags: []string{"error base_url: Empty base_url"}},
		"empty base_url of environment":   {config: block(nil), env: map[string]string{envBaseURL: "", envDataDir: "b"}, diags: []string{"error base_url: Empty MAILHOST_BASE_URL"}},
		"empty base_url beside embedded":  {config: block(func(c *config) { c.Embedded = embeddedBlock(none, none) }), env: map[string]string{envBaseURL: ""}, want: settings{dataDir: ".mailhost"}},
		"account_id alone":                {config: block(func(c *config) { c.AccountID = types.StringValue(accountID) }), diags: []string{"error account_id: An account_id without a base_url"}},
		"account_id of environment alone": {config: block(nil), env: map[string]string{envAccountID: accountID}, diags: []string{"error account_id: An account_id without a base_url"}},
		"account_id and data_dir":         {config: block(nil), env: map[string]string{envAccountID: accountID, envDataDir: "b"}, diags: []string{"error account_id: An account_id without a base_url"}},
		"account_id in the block": {
			config: block(func(c *config) { c.AccountID, c.Embedded = types.StringValue(accountID), embeddedBlock(none, none) }), want: settings{accountID: accountID, dataDir: ".mailhost"},
		},
		"meant":          {config: block(func(c *config) { c.Embedded = embeddedBlock(none, none) }), want: settings{dataDir: ".mailhost"}},
		"data_dir":       {config: block(func(c *config) { c.Embedded = embeddedBlock(types.StringValue("a"), types.StringValue("f.json")) }), env: map[string]string{envDataDir: "b"}, want: settings{dataDir: "a", fixture: "f.json"}},
		"empty data_dir": {config: block(func(c *config) { c.Embedded = embeddedBlock(types.StringValue(""), none) }), env: map[string]string{envDataDir: "b"}, want: settings{dataDir: ".mailhost"}},
		"environment":    {config: block(nil), env: map[string]string{envDataDir: "b"}, want: settings{dataDir: "b"}},
		"block and environment": {
			config: block(func(c *config) { c.Embedded = embeddedBlock(none, none) }), env: map[string]string{envDataDir: "b"}, want: settings{dataDir: "b"},
		},
		"account": {
			config: block(func(c *config) { c.Embedded = embeddedBlock(none, none) }), env: map[string]string{envAccountID: strings.ToUpper(accountID)},
			want: settings{accountID: accountID, accountFromEnv: true, dataDir: ".mailhost"},
		},
		"home": {
			config: block(func(c *config) { c.Embedded = embeddedBlock(types.StringValue("~/mail"), none) }), diags: []string{"error embedded.data_dir: Invalid data_dir"},
		},
		"PostgreSQL": {
			config: block(nil), env: map[string]string{envDataDir: "postgres://u:secret@db/mail"}, diags: []string{"error embedded.data_dir: Invalid data_dir"},
		},
		// The block overrides the environment's settings of a remote API.
		"remote environment": {
			config: block(func(c *config) { c.Embedded = embeddedBlock(none, none) }),
			env:    map[string]string{envBaseURL: remoteURL, envToken: "s3cret", envAccountID: accountID},
			want:   settings{accountID: accountID, accountFromEnv: true, dataDir: ".mailhost"},
			diags:  []string{"warning embedded: MAILHOST_BASE_URL is not used"},
		},
		"empty base_url beside it": {
			config: block(func(c *config) { c.BaseURL, c.Embedded = types.StringValue(""), embeddedBlock(none, none) }), want: settings{dataDir: ".mailhost"},
		},
		"conflicts": {
			config: block(func(c *config) {
				c.BaseURL, c.Token, c.OAuth2, c.Embedded = types.StringValue(remoteURL), types.StringValue("s3cret"), oauth2Block("https://a.example/t", "id", "s3cret"), embeddedBlock(none, none)
			}),
			diags: []string{"error base_url: Conflicting provider settings", "error token: Conflicting provider settings", "error oauth2: Conflicting provider settings"},
		},
		"token":                {config: block(func(c *config) { c.Token = types.StringValue("s3cret") }), diags: []string{"error token: A token without a base_url"}},
		"token of environment": {config: block(nil), env: map[string]string{envToken: "s3cret"}, diags: []string{"error token: A token without a base_url"}},
		"token and data_dir":   {config: block(nil), env: map[string]string{envToken: "s3cret", envDataDir: "b"}, diags: []string{"error token: A token without a base_url"}},
		"oauth2":               {config: block(func(c *config) { c.OAuth2 = oauth2Block("https://a.example/t", "id", "s3cret") }), diags: []string{"error oauth2: oauth2 without a base_url"}},
		"limits": {
			config: block(func(c *config) {
				c.Embedded, c.MaxRequestsPerMinute = embeddedBlock(none, none), types.Int64Value(600)
			}),
			env:  map[string]string{envMaxRequestsPerMinute: "1"},
			want: settings{dataDir: ".mailhost", requestsPerMinute: 600},
		},
		"invalid limits": {
			config: block(func(c *config) { c.MaxRequestsPerMinute = types.Int64Value(0) }),
			diags:  []string{"error max_requests_per_minute: Invalid max_requests_per_minute"},
		},
		"no account id": {config: block(func(c *config) { c.AccountID = types.StringValue("main") }), diags: []string{"error account_id: Invalid account_id"}},
	} {
		t.Run(name, c.run)
	}
}

func TestRemoteSettings(t *testing.T) {
	t.Parallel()
	full := map[string]string{envBaseURL: remoteURL, envAccountID: accountID, envToken: "s3cret"}
	base := func(url string) config { return block(func(c *config) { c.BaseURL = types.StringValue(url) }) }
	withOAuth2 := func(o types.Object) config { return block(func(c *config) { c.OAuth2 = o }) }
	credential := map[string]string{envAccountID: accountID, envToken: "s3cret"}
	for name, c := range map[string]settingsCase{
		"environment": {config: block(nil), env: full, want: settings{accountID: accountID, baseURL: remoteURL, token: "s3cret"}},
		"block": {
			config: block(func(c *config) {
				c.BaseURL, c.AccountID, c.Token = types.StringValue("https://b.example/api"), types.StringValue(" "+strings.ToUpper(accountID)), types.StringValue("s3cret-2\n")
			}),
			env: full, want: settings{accountID: accountID, baseURL: "https://b.example/api", token: "s3cret-2"},
		},
		"no account":           {config: base(remoteURL), env: map[string]string{envToken: "s3cret"}, diags: []string{"error account_id: Missing account_id"}},
		"no credential":        {config: base(remoteURL), env: map[string]string{envAccountID: accountID}, diags: []string{"error token: Missing credential"}},
		"neither":              {config: base(remoteURL), diags: []string{"error account_id: Missing account_id", "error token: Missing credential"}},
		"empty token":          {config: block(func(c *config) { c.Token = types.StringValue("") }), env: full, diags: []string{"error token: Missing credential"}},
		"no URL":               {config: base("api.example.com"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"other scheme":         {config: base("ftp://api.example.com"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"malformed":            {config: base("https://user:s3cret@ exa mple"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"with a password":      {config: base("https://user:s3cret@api.example.com"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"with a query":         {config: base(remoteURL + "?x=1"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"with a fragment":      {config: base(remoteURL + "#x"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"with the version":     {config: base(remoteURL + "/v1/public"), env: credential, diags: []string{"error base_url: Invalid base_url"}},
		"unencrypted":          {config: base("http://api.example.com"), env: credential, want: settings{accountID: accountID, baseURL: "http://api.example.com", token: "s3cret"}, diags: []string{"warning base_url: The credential is sent unencrypted"}},
		"loopback":             {config: base("http://127.0.0.1:8080"), env: credential, want: settings{accountID: accountID, baseURL: "http://127.0.0.1:8080", token: "s3cret"}},
		"loopback, IPv6":       {config: base("http://[::1]:8080"), env: credential, want: settings{accountID: accountID, baseURL: "http://[::1]:8080", token: "s3cret"}},
		"localhost":            {config: base("http://localhost:8080"), env: credential, want: settings{accountID: accountID, baseURL: "http://localhost:8080", token: "s3cret"}},
		"data_dir is ignored":  {config: base(remoteURL), env: map[string]string{envAccountID: accountID, envToken: "s3cret", envDataDir: "b"}, want: settings{accountID: accountID, baseURL: remoteURL, token: "s3cret"}},
		"oauth2 over the rest": {config: withOAuth2(oauth2Block("https://a.example/t", "id", "s3cret", "a", "b")), env: full, want: settings{accountID: accountID, baseURL: remoteURL, oauth2: &clientcredentials.Config{TokenURL: "https://a.example/t", ClientID: "id", ClientSecret: "s3cret", Scopes: []string{"a", "b"}}}},
		"oauth2 without scopes": {
			config: withOAuth2(oauth2Block("https://a.example/t", "id", "s3cret")), env: full,
			want: settings{accountID: accountID, baseURL: remoteURL, oauth2: &clientcredentials.Config{TokenURL: "https://a.example/t", ClientID: "id", ClientSecret: "s3cret", Scopes: nil}},
		},
		"oauth2 and token": {
			config: block(func(c *config) {
				c.OAuth2, c.Token = oauth2Block("https://a.example/t", "id", "s3cret"), types.StringValue("s3cret")
			}), env: full,
			diags: []string{"error token: Conflicting provider settings"},
		},
		"oauth2 is empty": {
			config: withOAuth2(oauth2Block("", "", "")), env: full,
			diags: []string{"error oauth2.token_url: Invalid oauth2.token_url", "error oauth2.client_id: Empty oauth2.client_id", "error oauth2.client_secret: Empty oauth2.client_secret"},
		},
		"oauth2 unencrypted": {
			config: withOAuth2(oauth2Block("http://a.example/t", "id", "s3cret")), env: full,
			want:  settings{accountID: accountID, baseURL: remoteURL, oauth2: &clientcredentials.Config{TokenURL: "http://a.example/t", ClientID: "id", ClientSecret: "s3cret", Scopes: nil}},
			diags: []string{"warning oauth2.token_url: The client secret is sent unencrypted"},
		},
	} {
		t.Run(name, c.run)
	}
}

// TestUnknownSettings checks that the names are in the order of the schema.
func TestUnknownSettings(t *testing.T) {
	t.Parallel()
	unknown := types.StringUnknown()
	for name, c := range map[string]struct {
		config config
		want   []string
	}{
		"all": {
			config{
				BaseURL: unknown, AccountID: unknown, Token: unknown, OAuth2: types.ObjectUnknown(oauth2Attrs), WorkloadIdentity: types.ObjectUnknown(workloadAttrs), Embedded: types.ObjectUnknown(embeddedAttrs),
				MaxRequestsPerMinute: types.Int64Unknown(),
			},
			[]string{"base_url", "account_id", "token", "oauth2", "workload_identity", "embedded", "max_requests_per_minute"},
		},
		"within embedded": {block(func(c *config) { c.Embedded = embeddedBlock(unknown, types.StringNull()) }), []string{"embedded"}},
		"none":            {block(nil), nil},
	} {
		assert.Check(t, is.DeepEqual(c.config.unknown(t.Context()), c.want), name)
	}
}
