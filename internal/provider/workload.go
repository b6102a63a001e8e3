package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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
	ignored := ""
	switch {
	case w.tokenFile != "":
		ignored = "The token in the file " + w.tokenFile + " is ignored without it. "
	case w.token != "":
		ignored = "The token in " + envIDToken + " is ignored without it. "
	}
	_, err := jwt.ParseSigned(w.tokenFile, idTokenAlgorithms)
	switch {
	case err == nil: // its name in an error would reveal the token
		diags.AddAttributeError(at.AtName("token_file"), "Invalid workload_identity.token_file",
			"It is the token itself, not the path of a file. Set "+envIDToken+" to the token instead, and neither token_file nor "+envIDTokenFile+".")
	case w.audience == "":
		diags.AddAttributeError(at.AtName("audience"), "Missing workload_identity.audience",
			"The audience names this API in the job's tokens. "+ignored+"Set it, here or in "+envAudience+", to the audience that the API trusts for the issuer; with mailhostd, it is in the file of `mailhostd serve --trust`.")
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
	token := w.token
	switch {
	case w.tokenFile != "":
		text, err := os.ReadFile(w.tokenFile)
		if err != nil {
			return nil, &transport.TokenError{
				Msg:       "the file of the job's identity token can't be read: " + err.Error(),
				Next:      "Set workload_identity.token_file, or " + envIDTokenFile + ", to the file into which the CI system or cluster writes the token, and let this user read it.",
				Permanent: true,
			}
		}
		token = strings.TrimSpace(textfile.Normalize(string(text)))
	case token == "":
		var err error
		if token, err = w.request(); err != nil {
			return nil, err
		}
	}
	claims, err := w.check(token)
	if err != nil {
		return nil, err
	}
	return &oauth2.Token{AccessToken: token, Expiry: claims.Expiry.Time()}, nil
}

// source names where the token comes from.
func (w *workloadIdentity) source() string {
	switch {
	case w.tokenFile != "":
		return "the file " + w.tokenFile
	case w.token != "":
		return envIDToken
	}
	return "GitHub's response"
}

// idTokenAlgorithms are accepted when claims are read; the API verifies the signature.
var idTokenAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// check returns the token's claims. It refuses a token for another service, which this API could misuse there.
func (w *workloadIdentity) check(token string) (claims jwt.Claims, err error) {
	var msg, next string
	parsed, err := jwt.ParseSigned(token, idTokenAlgorithms)
	if err == nil {
		err = parsed.UnsafeClaimsWithoutVerification(&claims)
	}
	switch {
	case token == "":
		msg, next = "is empty", "Check that the CI system or cluster issues a token for this job, and that it was written completely."
	case strings.HasPrefix(token, api.TokenPrefix+"_"):
		msg, next = "is a service account's token, not one of the CI system or cluster", "Set "+envToken+" to it, and remove workload_identity and "+envAudience+"; or let the job get an identity token."
	case err != nil:
		msg, next = "is no signed JWT", "An identity token is one line of three parts with dots between them, without quotes, Bearer or JSON around it, and is signed with a key pair. The path of a file belongs into "+envIDTokenFile+"."
	case claims.Expiry == nil:
		msg, next = "has no exp claim", "Let the issuer set the time at which the token expires."
	case !slices.Contains(claims.Audience, w.audience):
		msg = fmt.Sprintf("is for the audience %q, and workload_identity.audience is %q; it was not sent, because it may be a credential of another service", []string(claims.Audience), w.audience)
		next = "Let the CI system or cluster issue a token for this audience: on GitLab it is aud of id_tokens, on Kubernetes audience of the projected token. Or correct workload_identity.audience, or " + envAudience + ", to the audience that the API trusts."
	default:
		return claims, nil
	}
	return claims, &transport.TokenError{Msg: fmt.Sprintf("the job's identity token in %s %s", w.source(), msg), Next: next, Permanent: true}
}

// advise implements transport.Advise. The claims are no secrets, unlike the token.
func (w *workloadIdentity) advise(status int, token string) string {
	claims, err := w.check(token)
	if err != nil {
		return ""
	}
	expiry := claims.Expiry.Time().UTC().Format(time.RFC3339)
	credential := fmt.Sprintf("The credential is the job's identity token in %s, with the claims iss %q, sub %q, aud %q and exp %s.", w.source(), claims.Issuer, claims.Subject, []string(claims.Audience), expiry)
	now := time.Now()
	switch {
	case status == http.StatusForbidden:
		return credential + " If the API is mailhostd, grant its workload the capability: mailhostd grant add --workload NAME --grant CAPABILITY, with the name in the trust file."
	case now.After(claims.Expiry.Time()):
		return credential + fmt.Sprintf(" It has expired; this machine's clock says %s. Run the job again, or renew the token before Terraform runs.", now.UTC().Format(time.RFC3339))
	}
	return credential + " The API must trust exactly these. If it is mailhostd, compare them with the issuers, audiences and workloads in the file of mailhostd serve --trust, and restart the server after a change of the file. If it says that the token has expired or is not valid yet, set the clocks of both machines."
}

// maxIDTokenResponse limits GitHub's response, in bytes.
const maxIDTokenResponse = 64 << 10

// request requests a token from GitHub, at the address and with the credential of the job.
func (w *workloadIdentity) request() (string, error) {
	failed := func(msg, next string) error {
		return &transport.TokenError{Msg: "GitHub issued no identity token for the job: " + msg, Next: next}
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, w.requestURL, nil)
	if err != nil {
		return "", &transport.TokenError{Msg: envRequestURL + " is no URL", Next: "GitHub sets this variable; remove what changes it.", Permanent: true}
	}
	query := req.URL.Query()
	query.Set("audience", w.audience)
	req.URL.RawQuery = query.Encode()
	req.Header.Set("Authorization", "Bearer "+w.requestToken)
	resp, err := tokenClient().Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return "", failed(err.Error(), "Check that this machine reaches "+req.URL.Host+", the address in "+envRequestURL+"; a runner of your own may need a proxy for it.")
	}
	defer resp.Body.Close()
	switch code := resp.StatusCode; {
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests:
		return "", failed(fmt.Sprintf("HTTP %d", code), "Run the job again later.")
	case code != http.StatusOK:
		return "", &transport.TokenError{
			Msg:       fmt.Sprintf("GitHub issued no identity token for the job: HTTP %d for the audience %q", code, w.audience),
			Next:      "Give the job the permission id-token: write. The address and the token in " + envRequestURL + " and " + envRequestToken + " are those of one job, and don't work after it.",
			Permanent: true,
		}
	}
	var body struct {
		Value string `json:"value"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxIDTokenResponse)).Decode(&body); err != nil {
		return "", failed("its response is not JSON", "Check that "+req.URL.Host+" is GitHub's, and no proxy responds for it.")
	}
	return body.Value, nil
}
