package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/textfile"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// The environment variables of workload identity. GitHub sets the last two in a job with the permission
// id-token: write.
const (
	envAudience     = "MAILHOST_AUDIENCE"
	envIDToken      = "MAILHOST_ID_TOKEN"
	envIDTokenFile  = "MAILHOST_ID_TOKEN_FILE"
	envRequestURL   = "ACTIONS_ID_TOKEN_REQUEST_URL"
	envRequestToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
)

type workloadConfig struct {
	Audience  types.String `tfsdk:"audience"`
	TokenFile types.String `tfsdk:"token_file"`
}

// workloadIdentity is a source of tokens that identify the job in which Terraform runs (OpenID Connect).
// No configuration, plan or state contains them.
type workloadIdentity struct {
	// audience is the API's name in the aud claim.
	audience string
	// At most one of these sources of the token is set.
	tokenFile, token, requestURL string
	requestToken                 string // for requestURL
}

// resolveWorkload returns the source of the job's tokens.
func (c config) resolveWorkload(ctx context.Context, getenv func(string) string) (w *workloadIdentity, diags diag.Diagnostics) {
	var block workloadConfig
	if !c.WorkloadIdentity.IsNull() {
		diags.Append(c.WorkloadIdentity.As(ctx, &block, basetypes.ObjectAsOptions{})...)
	}
	at := path.Root("workload_identity")
	w = &workloadIdentity{
		audience:  strings.TrimSpace(setting(block.Audience, getenv(envAudience))),
		tokenFile: setting(block.TokenFile, getenv(envIDTokenFile)),
		token:     strings.TrimSpace(getenv(envIDToken)),
	}
	if url, token := getenv(envRequestURL), getenv(envRequestToken); url != "" && token != "" {
		w.requestURL, w.requestToken = url, token
	}
	switch {
	case w.audience == "":
		diags.AddAttributeError(at.AtName("audience"), "Missing workload_identity.audience",
			"The audience names this API in the job's tokens. Set it, here or in "+envAudience+", to the audience that the API trusts for the issuer; with mailhostd, it is in the file of `mailhostd serve --trust`.")
	case w.tokenFile == "" && w.token == "" && w.requestURL == "":
		diags.AddAttributeError(at, "This job has no identity token",
			"The provider found no token of the CI system or cluster.\n\n"+
				"On GitHub, give the job `permissions: { id-token: write }`; a pull request of a fork can't have it.\n"+
				"On GitLab, give the job `id_tokens: { "+envIDToken+": { aud: "+w.audience+" } }`.\n"+
				"On Kubernetes and elsewhere, set token_file or "+envIDTokenFile+" to the file with the token.")
	}
	return w, diags
}

// Token implements oauth2.TokenSource. A long apply gets new tokens after the time in the exp claim.
func (w *workloadIdentity) Token() (*oauth2.Token, error) {
	switch {
	case w.tokenFile != "":
		text, err := os.ReadFile(w.tokenFile)
		if err != nil {
			return nil, &transport.TokenError{Msg: "the identity token can't be read: " + err.Error(), Permanent: true}
		}
		return w.check(strings.TrimSpace(textfile.Normalize(string(text))), w.tokenFile)
	case w.token != "":
		return w.check(w.token, envIDToken)
	}
	token, err := w.request()
	if err != nil {
		return nil, err
	}
	return w.check(token, "GitHub's response")
}

// idTokenAlgorithms are accepted when claims are read; the API verifies the signature.
var idTokenAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// check refuses a token for another service, which this API could misuse there.
func (w *workloadIdentity) check(token, source string) (*oauth2.Token, error) {
	var claims jwt.Claims
	parsed, err := jwt.ParseSigned(token, idTokenAlgorithms)
	if err == nil {
		err = parsed.UnsafeClaimsWithoutVerification(&claims)
	}
	switch {
	case err != nil || claims.Expiry == nil:
		return nil, &transport.TokenError{Msg: "the identity token in " + source + " is no signed JWT with an expiry", Permanent: true}
	case !slices.Contains(claims.Audience, w.audience):
		return nil, &transport.TokenError{Permanent: true, Msg: fmt.Sprintf("the identity token in %s is for the audience %q, and workload_identity.audience is %q; it was not sent, because it may be a credential of another service", source, []string(claims.Audience), w.audience)}
	}
	return &oauth2.Token{AccessToken: token, Expiry: claims.Expiry.Time()}, nil
}

// maxIDTokenResponse limits GitHub's response, in bytes.
const maxIDTokenResponse = 64 << 10

// request requests a token from GitHub, at the address and with the credential of the job.
func (w *workloadIdentity) request() (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, w.requestURL, nil)
	if err != nil {
		return "", &transport.TokenError{Msg: envRequestURL + " is no URL", Permanent: true}
	}
	query := req.URL.Query()
	query.Set("audience", w.audience)
	req.URL.RawQuery = query.Encode()
	req.Header.Set("Authorization", "Bearer "+w.requestToken)
	resp, err := tokenClient().Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", &transport.TokenError{
			Msg:       fmt.Sprintf("GitHub issued no identity token (HTTP %d); does the job have the permission id-token: write?", resp.StatusCode),
			Permanent: resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests,
		}
	}
	var body struct {
		Value string `json:"value"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxIDTokenResponse)).Decode(&body); err != nil {
		return "", &transport.TokenError{Msg: "GitHub's response to the request for an identity token can't be read"}
	}
	return body.Value, nil
}
