package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/strictjson"
)

// ReadTrust reads a trust file and returns a verifier for each issuer. The file lists issuers of
// tokens for workloads, such as CI systems. ReadTrust refuses a workload if a stranger can get a
// token with its claims.
func ReadTrust(text []byte, clock func() time.Time, log *slog.Logger) (all Verifiers, err error) {
	var trust struct {
		Issuers []struct {
			Issuer    string     `json:"issuer"`   // exactly as in the tokens' iss claim
			Audience  string     `json:"audience"` // this API's name in the aud claim
			Workloads []Workload `json:"workloads"`
		} `json:"issuers"`
	}
	if err := strictjson.Unmarshal(text, &trust); err != nil {
		return nil, err
	}
	if len(trust.Issuers) == 0 {
		return nil, errors.New("there are no issuers")
	}
	issuers, names := map[string]bool{}, map[string]bool{}
	for _, i := range trust.Issuers {
		if issuers[i.Issuer] {
			return nil, fmt.Errorf("the issuer %s is there twice", i.Issuer)
		}
		issuers[i.Issuer] = true
		if err := checkTrustAudience(i.Issuer, i.Audience); err != nil {
			return nil, fmt.Errorf("the issuer %s: %w", i.Issuer, err)
		}
		if len(i.Workloads) == 0 {
			return nil, fmt.Errorf("the issuer %s has no workloads", i.Issuer)
		}
		for _, w := range i.Workloads {
			if err := w.check(i.Issuer); err != nil {
				return nil, fmt.Errorf("the workload %q of %s: %w", w.Name, i.Issuer, err)
			}
			if names[w.Name] {
				return nil, fmt.Errorf("the workload %q is there twice", w.Name)
			}
			names[w.Name] = true
		}
		v, err := New(Options{Issuer: i.Issuer, Audience: i.Audience, Clock: clock, Logger: log})
		if err != nil {
			return nil, fmt.Errorf("the issuer %s: %w", i.Issuer, err)
		}
		v.workloads = i.Workloads
		all = append(all, v)
	}
	return all, nil
}

// commonAudiences lists what tokens for other services have in their aud claim.
var commonAudiences = []string{
	"sts.amazonaws.com", "https://sts.amazonaws.com", "api://AzureADTokenExchange", "sigstore", "istio-ca", "vault", "vault.io", "consul.io",
	"aws.workload.identity", "gcp.workload.identity", "vault.workload.identity", // HCP Terraform
	"k3s", "rke2", "api", // Kubernetes: K3s, RKE2, minikube
}

// commonAudiencePrefixes is like commonAudiences, without the URL's scheme.
var commonAudiencePrefixes = []string{
	"kubernetes.default", "kubernetes.svc.default", // Kubernetes, kOps
	"github.com/", "buildkite.com/", // the defaults are the URLs of the owner
	"iam.googleapis.com/",
}

// checkTrustAudience refuses an audience that the issuer's tokens for other services have too: such a service
// could use a job's token here.
func checkTrustAudience(issuer, audience string) error {
	u, _ := url.Parse(issuer) // New reports an invalid URL
	prefixes := commonAudiencePrefixes
	switch {
	case strings.ContainsAny(audience, "*?"):
		return fmt.Errorf("the audience is %q: it is compared exactly, there are no wildcards; use the URL of this server", audience)
	case u != nil && strings.HasSuffix(u.Host, ".ghe.com"):
		prefixes = append(slices.Clone(prefixes), strings.TrimPrefix(u.Host, "token.actions.")+"/")
	case u != nil && strings.HasSuffix(u.Path, gitHubServerPath):
		prefixes = append(slices.Clone(prefixes), u.Host+"/")
	}
	_, name, found := strings.Cut(audience, "//") // also //iam.googleapis.com/…
	if !found {
		name = audience
	}
	if strings.TrimSuffix(audience, "/") == strings.TrimSuffix(issuer, "/") ||
		slices.Contains(commonAudiences, strings.TrimSuffix(audience, "/")) ||
		slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return fmt.Errorf("the audience %s is a default or another service's, so that a job's token for another service would be valid here; use the URL of this server", audience)
	}
	return nil
}

// Verifiers accept the tokens of several issuers. They implement identity.TokenVerifier.
type Verifiers []*Verifier

// Names reports whether one of the trust file's workloads has the name.
func (all Verifiers) Names(workload string) bool {
	return slices.ContainsFunc(all, func(v *Verifier) bool {
		return slices.ContainsFunc(v.workloads, func(w Workload) bool { return w.Name == workload })
	})
}

// VerifyToken implements identity.TokenVerifier. The issuer named in the token decides.
func (all Verifiers) VerifyToken(ctx context.Context, token string) (identity.User, error) {
	_, named, _, err := parse(token)
	if err != nil {
		return identity.User{}, err
	}
	for _, v := range all {
		if v.options.Issuer == named.Issuer {
			return v.VerifyToken(ctx, token)
		}
	}
	return identity.User{}, errIssuer
}
