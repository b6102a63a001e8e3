package provider

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// The environment variables that stand in for settings.
const (
	envBaseURL   = "MAILHOST_BASE_URL"
	envAccountID = "MAILHOST_ACCOUNT_ID"
	envToken     = "MAILHOST_TOKEN"
	envDataDir   = "MAILHOST_DATA_DIR"
)

// defaultDataDir is where an embedded account's data lies, below the working
// directory.
const defaultDataDir = ".mailhost"

// config is the provider block as it is written.
type config struct {
	BaseURL   types.String `tfsdk:"base_url"`
	AccountID types.String `tfsdk:"account_id"`
	Token     types.String `tfsdk:"token"`
	OAuth2    types.Object `tfsdk:"oauth2"`
	Embedded  types.Object `tfsdk:"embedded"`
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

// settings is what the provider block and the environment amount to: either a
// remote API (baseURL) or an embedded account (dataDir).
type settings struct {
	accountID string
	// accountFromEnv says that the environment named the account.
	accountFromEnv bool

	baseURL string
	token   string
	oauth2  *oauth2Settings

	dataDir string
	fixture string
}

type oauth2Settings struct {
	tokenURL, clientID, clientSecret string
	scopes                           []string
}

func (s settings) embedded() bool { return s.baseURL == "" }

// resolve turns the provider block and the environment into settings, or says
// what is wrong with them.
func (c config) resolve(ctx context.Context, getenv func(string) string) (s settings, diags diag.Diagnostics) {
	if diags = c.checkKnown(ctx); diags.HasError() {
		return s, diags
	}
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
	if !c.Embedded.IsNull() {
		diags.Append(c.resolveEmbedded(ctx, &s, getenv)...)
		return s, diags
	}
	s.baseURL = strings.TrimSpace(setting(c.BaseURL, getenv(envBaseURL)))
	s.token = strings.TrimSpace(setting(c.Token, getenv(envToken)))
	if s.baseURL == "" {
		diags.Append(c.resolveImplicit(&s, getenv)...)
		return s, diags
	}
	diags.Append(c.resolveRemote(ctx, &s)...)
	return s, diags
}

// resolveEmbedded reads an explicit embedded block. It rules over what the
// environment says of a remote API.
func (c config) resolveEmbedded(ctx context.Context, s *settings, getenv func(string) string) (diags diag.Diagnostics) {
	for _, remote := range []struct {
		name string
		set  bool
	}{{"base_url", c.BaseURL.ValueString() != ""}, {"token", c.Token.ValueString() != ""}, {"oauth2", !c.OAuth2.IsNull()}} {
		if remote.set {
			diags.AddAttributeError(path.Root(remote.name), "Conflicting provider settings",
				remote.name+" is for a remote API, embedded is for an account in a local file. Remove one of the two from the provider block.")
		}
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

// resolveImplicit is for a provider block that names no API at all.
func (c config) resolveImplicit(s *settings, getenv func(string) string) (diags diag.Diagnostics) {
	const instead = "Without base_url the provider would apply to an embedded account in a local file, which is not what a credential is for. " +
		"Set base_url (or " + envBaseURL + ") to the API that the credential belongs to; for an embedded account remove the credential, or set embedded = {}."
	switch {
	case s.token != "":
		diags.AddAttributeError(path.Root("token"), "A token without a base_url", instead)
	case !c.OAuth2.IsNull():
		diags.AddAttributeError(path.Root("oauth2"), "oauth2 without a base_url", instead)
	}
	dir := getenv(envDataDir)
	if dir == "" && !diags.HasError() {
		diags.AddWarning("Using an embedded account",
			"No base_url is set, so everything is kept in an account of its own in "+defaultDataDir+"/"+databaseName+" below the working directory; nothing reaches a real service. "+
				"Set embedded = {} in the provider block to say that this is meant, or base_url, account_id and token for a remote API.")
	}
	diags.Append(s.embedIn(dir, c)...)
	return diags
}

// embedIn sets what both ways to an embedded account have in common; dir is
// empty for the default.
func (s *settings) embedIn(dir string, c config) (diags diag.Diagnostics) {
	s.accountFromEnv = s.accountID != "" && c.AccountID.IsNull()
	s.dataDir = cmp.Or(dir, defaultDataDir)
	if strings.HasPrefix(s.dataDir, "~") {
		diags.AddAttributeError(path.Root("embedded").AtName("data_dir"), "Invalid data_dir",
			"A leading ~ is not the home directory here. Write the whole path, in a configuration for instance as pathexpand(\""+s.dataDir+"\").")
	}
	return diags
}

// checkKnown refuses settings that are known only after an apply: which account
// is meant must be known before anything is read.
func (c config) checkKnown(ctx context.Context) (diags diag.Diagnostics) {
	for _, setting := range []struct {
		name  string
		value attr.Value
	}{{"base_url", c.BaseURL}, {"account_id", c.AccountID}, {"token", c.Token}, {"oauth2", c.OAuth2}, {"embedded", c.Embedded}} {
		if raw, err := setting.value.ToTerraformValue(ctx); err == nil && !raw.IsFullyKnown() {
			diags.AddAttributeError(path.Root(setting.name), "Provider setting not known yet",
				fmt.Sprintf("%s depends on something that is known only after an apply. Give it a value that is known before, or apply what it depends on first, with -target.", setting.name))
		}
	}
	return diags
}

// setting returns a value of the provider block, or else of the environment.
func setting(v types.String, env string) string {
	if v.IsNull() {
		return env
	}
	return v.ValueString()
}
