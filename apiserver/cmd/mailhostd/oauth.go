package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
)

// oauthFlags say whose access tokens are accepted, beside those of service
// accounts.
type oauthFlags struct {
	OAuthIssuer      string `name:"oauth-issuer" placeholder:"URL" help:"Issuer of OAuth 2.0 access tokens (JWT) that are accepted, as it stands in them; its keys are found by OpenID Connect Discovery. Default: none."`
	OAuthAudience    string `name:"oauth-audience" placeholder:"NAME" help:"How the issuer names this API in the tokens' aud claim; required with --oauth-issuer."`
	OAuthGroupsClaim string `name:"oauth-groups-claim" default:"groups" placeholder:"CLAIM" help:"Claim with the user's groups, which authorizations may name. Default: ${default}."`
}

// validate returns what makes no sense in the flags.
func (f oauthFlags) validate() error {
	switch {
	case f.OAuthIssuer == "" && f.OAuthAudience != "":
		return errors.New("--oauth-audience: needs --oauth-issuer")
	case f.OAuthIssuer != "" && f.OAuthAudience == "":
		return errors.New("--oauth-audience: is required with --oauth-issuer, so that a token for another API does not open this one")
	}
	_, err := f.tokenVerifier(nil, nil)
	return err
}

// tokenVerifier returns what validates access tokens, and nil where none are
// accepted. It makes no request.
func (f oauthFlags) tokenVerifier(clock func() time.Time, log *slog.Logger) (apiserver.TokenVerifier, error) {
	if f.OAuthIssuer == "" {
		return nil, nil
	}
	v, err := oauth.New(oauth.Options{Issuer: f.OAuthIssuer, Audience: f.OAuthAudience, GroupsClaim: f.OAuthGroupsClaim, Clock: clock, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("--oauth-%w", err)
	}
	return v, nil
}
