package provider

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// The environment variables for settings that the provider block omits.
const (
	envBaseURL   = "MAILHOST_BASE_URL"
	envAccountID = "MAILHOST_ACCOUNT_ID"
	envToken     = "MAILHOST_TOKEN"
	envDataDir   = "MAILHOST_DATA_DIR"

	envMaxRequestsPerMinute = "MAILHOST_MAX_REQUESTS_PER_MINUTE"
)

// defaultDataDir is the default data directory of an embedded account, below the working
// directory.
const defaultDataDir = ".mailhost"

type config struct {
	BaseURL   types.String `tfsdk:"base_url"`
	AccountID types.String `tfsdk:"account_id"`
	Token     types.String `tfsdk:"token"`
	OAuth2    types.Object `tfsdk:"oauth2"`
	Embedded  types.Object `tfsdk:"embedded"`

	WorkloadIdentity     types.Object `tfsdk:"workload_identity"`
	MaxRequestsPerMinute types.Int64  `tfsdk:"max_requests_per_minute"`
}

type oauth2Config struct {
	TokenURL     types.String `tfsdk:"token_url"`
	ClientID     types.String `tfsdk:"client_id"`
	ClientSecret types.String `tfsdk:"client_secret"`
	Scopes       types.List   `tfsdk:"scopes"`
}

type embeddedConfig struct {
	DataDir types.String `tfsdk:"data_dir"`
	Fixture types.String `tfsdk:"fixture"`
}

// settings are the resolved provider block and environment: for a remote API (baseURL) or an embedded
// account (dataDir).
type settings struct {
	accountID string
	// accountFromEnv means that accountID comes from the environment.
	accountFromEnv bool

	baseURL string
	// At most one of these credentials is set.
	token    string
	oauth2   *clientcredentials.Config
	workload *workloadIdentity

	dataDir string
	fixture string

	// requestsPerMinute is 0 for no limit.
	requestsPerMinute int
}

func (s settings) embedded() bool { return s.baseURL == "" }

// environment looks up a variable, like os.LookupEnv.
type environment func(name string) (value string, set bool)

func (e environment) get(name string) string {
	value, _ := e(name)
	return value
}

// resolve returns the settings of the provider block and the environment. Every value in
// the block must be known.
func (c config) resolve(ctx context.Context, lookup environment) (s settings, diags diag.Diagnostics) {
	getenv := lookup.get
	s.accountID = strings.TrimSpace(setting(c.AccountID, getenv(envAccountID)))
	if s.accountID != "" {
		id, err := uuid.Parse(s.accountID)
		if err != nil {
			diags.AddAttributeError(path.Root("account_id"), "Invalid account_id",
				fmt.Sprintf("account_id must be the account's UUID, for instance 7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e. Correct it in the provider block or in %s.", envAccountID))
			return s, diags
		}
		s.accountID = id.String()
	}
	s.requestsPerMinute = c.limit(getenv(envMaxRequestsPerMinute), &diags)
	if diags.HasError() {
		return s, diags
	}
	if !c.Embedded.IsNull() {
		diags.Append(c.resolveEmbedded(ctx, &s, getenv)...)
		return s, diags
	}
	s.baseURL = strings.TrimSpace(setting(c.BaseURL, getenv(envBaseURL)))
	s.token = strings.TrimSpace(setting(c.Token, getenv(envToken)))
	if s.baseURL == "" {
		diags.Append(c.resolveImplicit(&s, lookup)...)
		return s, diags
	}
	diags.Append(c.resolveRemote(ctx, &s, getenv)...)
	return s, diags
}

func (c config) credentials() (names []string) {
	if strings.TrimSpace(c.Token.ValueString()) != "" {
		names = append(names, "token")
	}
	if !c.OAuth2.IsNull() {
		names = append(names, "oauth2")
	}
	if !c.WorkloadIdentity.IsNull() {
		names = append(names, "workload_identity")
	}
	return names
}

// resolveEmbedded reads an explicit embedded block. It takes precedence over environment variables for a remote API.
func (c config) resolveEmbedded(ctx context.Context, s *settings, getenv func(string) string) (diags diag.Diagnostics) {
	remote := c.credentials()
	if c.BaseURL.ValueString() != "" {
		remote = append([]string{"base_url"}, remote...)
	}
	for _, name := range remote {
		diags.AddAttributeError(path.Root(name), "Conflicting provider settings",
			name+" is for a remote API, embedded is for an account in a local file. Remove one of the two from the provider block.")
	}
	var e embeddedConfig
	diags.Append(c.Embedded.As(ctx, &e, basetypes.ObjectAsOptions{})...)
	diags.Append(s.embedIn(setting(e.DataDir, getenv(envDataDir)), c)...)
	s.fixture = e.Fixture.ValueString()
	for _, name := range []string{envBaseURL, envToken} {
		if getenv(name) != "" {
			diags.AddAttributeWarning(path.Root("embedded"), name+" is not used",
				"The provider block has an embedded account, which is a local file; nothing reaches the API that the environment names. Remove embedded from the provider block to use that API, or unset "+name+".")
			break
		}
	}
	return diags
}

// resolveImplicit resolves a provider block without an API. Any sign of an intended remote API is an error.
func (c config) resolveImplicit(s *settings, lookup environment) (diags diag.Diagnostics) {
	const instead = "Without base_url the provider would apply to an embedded account in a local file, which needs no credential. " +
		"Set base_url (or " + envBaseURL + ") to the API that the credential belongs to; for an embedded account remove the credential, or set embedded = {}."
	_, baseURLSet := lookup(envBaseURL)
	switch {
	case !c.BaseURL.IsNull():
		diags.AddAttributeError(path.Root("base_url"), "Empty base_url",
			"base_url is empty; if it comes from a variable, check that the variable is set. "+
				"Set it to the URL of the API. For an embedded account, which is a local file, remove base_url and set embedded = {}.")
	case baseURLSet:
		diags.AddAttributeError(path.Root("base_url"), "Empty "+envBaseURL,
			envBaseURL+" is set, but empty: the secret or variable that it comes from may be missing here. "+
				"Set it to the URL of the API. For an embedded account, which is a local file, unset it or set embedded = {} in the provider block.")
	case s.token != "":
		diags.AddAttributeError(path.Root("token"), "A token without a base_url", instead)
	case len(c.credentials()) > 0:
		name := c.credentials()[0]
		diags.AddAttributeError(path.Root(name), name+" without a base_url", instead)
	case lookup.get(envAudience) != "":
		diags.AddAttributeError(path.Root("workload_identity"), envAudience+" without a base_url", instead)
	case s.accountID != "":
		diags.AddAttributeError(path.Root("account_id"), "An account_id without a base_url",
			"Without base_url the provider would create an embedded account with this id, in a local file. "+
				"Set base_url (or "+envBaseURL+") to the API that has the account. For an embedded account set embedded = {}, "+
				"or remove account_id from the provider block and unset "+envAccountID+".")
	}
	dir := lookup.get(envDataDir)
	if dir == "" && !diags.HasError() {
		diags.AddWarning("Using an embedded account",
			"No base_url is set, so everything is stored in an embedded account in "+defaultDataDir+"/"+databaseName+" below the working directory; nothing reaches a real service. "+
				"Set embedded = {} in the provider block to confirm that, or base_url, account_id and token for a remote API.")
	}
	diags.Append(s.embedIn(dir, c)...)
	return diags
}

// embedIn sets the data directory of an embedded account, or the default for "".
func (s *settings) embedIn(dir string, c config) (diags diag.Diagnostics) {
	s.accountFromEnv = s.accountID != "" && c.AccountID.IsNull()
	s.dataDir = cmp.Or(dir, defaultDataDir)
	if strings.Contains(dir, "://") { // a URL may contain a password
		s.dataDir = defaultDataDir
		diags.AddAttributeError(path.Root("embedded").AtName("data_dir"), "Invalid data_dir",
			"An embedded account is in a directory of this machine, and the data_dir is a URL. For an account in PostgreSQL, run mailhostd serve --database postgres://…, and set base_url to the address of that server.")
		return diags
	}
	if strings.HasPrefix(s.dataDir, "~") {
		diags.AddAttributeError(path.Root("embedded").AtName("data_dir"), "Invalid data_dir",
			"A leading ~ is not the home directory here. Write the whole path, in a configuration for instance as pathexpand(\""+s.dataDir+"\").")
	}
	return diags
}

// unknown returns the names of the settings that only an apply knows.
func (c config) unknown(ctx context.Context) (names []string) {
	for _, setting := range []struct {
		name  string
		value attr.Value
	}{{"base_url", c.BaseURL}, {"account_id", c.AccountID}, {"token", c.Token}, {"oauth2", c.OAuth2}, {"workload_identity", c.WorkloadIdentity}, {"embedded", c.Embedded}, {"max_requests_per_minute", c.MaxRequestsPerMinute}} {
		if raw, err := setting.value.ToTerraformValue(ctx); err == nil && !raw.IsFullyKnown() {
			names = append(names, setting.name)
		}
	}
	return names
}

// notKnownYet is the error of a call that requires the API while settings are unknown. The plan of a
// create does not require it, and its apply knows the settings.
func notKnownYet(names []string) error {
	return &session.OpenError{
		Summary: "Provider setting not known yet",
		Reason:  fmt.Sprintf("This needs the API, but %s in the provider block depends on something that is known only after an apply, such as the token of a mailhost_service_account that is created or replaced.", strings.Join(names, " and ")),
		Next: "Run two steps, with the address of the resource that the setting comes from:\n\n" +
			"  terraform apply -target=mailhost_service_account.example\n  terraform apply",
	}
}

func (c config) backend(s settings) session.Backend {
	if !s.embedded() {
		setting := "account_id in the provider block"
		if c.AccountID.IsNull() {
			setting = envAccountID
		}
		return session.Backend{
			Account: fmt.Sprintf("which %s names, at %s", setting, s.baseURL),
			Other:   fmt.Sprintf("Set account_id (now %s) and the credential to those of the state's account, or select the workspace or backend whose state belongs to this account.", setting),
		}
	}
	dir := s.dataDir
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	return session.Backend{
		Embedded: true,
		Account:  "which is the embedded account in " + dir,
		Other: "A new checkout or working directory has its own, empty embedded account. Restore the data directory of the state, " +
			"or point embedded.data_dir or " + envDataDir + " at it; all workspaces of a working directory share one. " +
			"If the state is of a remote account, set base_url, account_id and a credential.",
	}
}

// limit returns the limit of requests in the provider block, or in env if it is null; 0 means no limit.
func (c config) limit(env string, diags *diag.Diagnostics) int {
	text := strings.TrimSpace(env)
	if !c.MaxRequestsPerMinute.IsNull() {
		text = strconv.FormatInt(c.MaxRequestsPerMinute.ValueInt64(), 10)
	}
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		diags.AddAttributeError(path.Root("max_requests_per_minute"), "Invalid max_requests_per_minute",
			fmt.Sprintf("max_requests_per_minute must be a whole number of at least 1, and is %q. Correct it in the provider block or in %s. For no limit, remove it from both.", text, envMaxRequestsPerMinute))
	}
	return int(n)
}

// setting returns a value of the provider block, or env if it is null.
func setting(v types.String, env string) string {
	if v.IsNull() {
		return env
	}
	return v.ValueString()
}
