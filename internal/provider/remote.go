package provider

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func (c config) resolveRemote(ctx context.Context, s *settings, getenv func(string) string) (diags diag.Diagnostics) {
	u, ok := absolute(s.baseURL)
	version, _, _ := strings.Cut(api.Prefix, "/accounts")
	invalid := ""
	switch {
	case !ok:
		invalid = "base_url must be an absolute http or https URL, for instance https://api.example.com."
	case u.User != nil:
		invalid = "base_url must not have a user name or a password; the credential is the token."
	case u.RawQuery != "" || u.Fragment != "":
		invalid = "base_url ends with its path: remove the query or the fragment."
	case strings.Contains(u.Path+"/", version+"/"):
		invalid = fmt.Sprintf("The provider itself appends %s, the account and the rest of the path. Remove %s and what follows it.", version, version)
	}
	if invalid != "" {
		diags.AddAttributeError(path.Root("base_url"), "Invalid base_url", invalid+" Correct it in the provider block or in "+envBaseURL+".")
		return diags
	}
	if s.accountID == "" {
		diags.AddAttributeError(path.Root("account_id"), "Missing account_id",
			"A remote API needs the account to manage. Set account_id in the provider block, or "+envAccountID+". `mailhostd init` prints it for a standalone server.")
	}
	chosen := c.credentials()
	switch { // the block takes precedence over the environment
	case len(chosen) > 1:
		diags.AddAttributeError(path.Root(chosen[0]), "Conflicting provider settings", strings.Join(chosen, " and ")+" are different ways to authenticate. Keep one of them.")
	case !c.OAuth2.IsNull():
		s.token = ""
		diags.Append(c.resolveOAuth2(ctx, s)...)
	case !c.WorkloadIdentity.IsNull(), s.token == "" && cmp.Or(getenv(envAudience), getenv(envIDTokenFile), getenv(envIDToken)) != "":
		s.token = ""
		workload, problems := c.resolveWorkload(ctx, getenv)
		s.workload = workload
		diags.Append(problems...)
	case s.token == "":
		diags.AddAttributeError(path.Root("token"), "Missing credential",
			"A remote API needs a credential. Set "+envToken+" to a service account's token (preferable to token in the provider block, which ends up in version control), or set workload_identity in a CI system that issues tokens, or oauth2.")
	}
	if exposed(u) {
		diags.AddAttributeWarning(path.Root("base_url"), "The credential is sent unencrypted",
			"base_url is a plain http URL of another machine: the bearer token can be read in transit. Use https.")
	}
	return diags
}

func (c config) resolveOAuth2(ctx context.Context, s *settings) (diags diag.Diagnostics) {
	var o oauth2Config
	diags.Append(c.OAuth2.As(ctx, &o, basetypes.ObjectAsOptions{})...)
	s.oauth2 = &clientcredentials.Config{TokenURL: o.TokenURL.ValueString(), ClientID: o.ClientID.ValueString(), ClientSecret: o.ClientSecret.ValueString()}
	if !o.Scopes.IsNull() {
		diags.Append(o.Scopes.ElementsAs(ctx, &s.oauth2.Scopes, false)...)
	}
	return append(diags, checkOAuth2(s.oauth2)...)
}

// checkOAuth2 reports settings with which the first request would fail.
func checkOAuth2(o *clientcredentials.Config) (diags diag.Diagnostics) {
	at := path.Root("oauth2")
	switch u, ok := absolute(o.TokenURL); {
	case !ok:
		diags.AddAttributeError(at.AtName("token_url"), "Invalid oauth2.token_url",
			"oauth2.token_url must be the absolute http or https URL of the issuer's token endpoint, for instance https://login.example.com/oauth2/token.")
	case exposed(u):
		diags.AddAttributeWarning(at.AtName("token_url"), "The client secret is sent unencrypted",
			"oauth2.token_url is a plain http URL of another machine: the client secret can be read in transit. Use https.")
	}
	for _, required := range []struct{ name, value string }{{"client_id", o.ClientID}, {"client_secret", o.ClientSecret}} {
		if required.value == "" {
			diags.AddAttributeError(at.AtName(required.name), "Empty oauth2."+required.name,
				"oauth2."+required.name+" is empty. Set it to the value that the issuer assigned to the client; if it comes from a variable, check that the variable is set.")
		}
	}
	return diags
}

func absolute(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	return u, err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// exposed reports whether requests to a URL can be read in transit.
func exposed(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}
