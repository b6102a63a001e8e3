package access

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// tokensFlag names the file with the tokens of people who signed in.
type tokensFlag struct {
	Tokens string `variable:"MAILHOSTD_TOKENS" placeholder:"FILE" help:"File that keeps the tokens. Default: mailhost/tokens.json in your configuration folder."`
}

func (f tokensFlag) store() (signin.Store, error) {
	if f.Tokens != "" {
		return signin.Store{Path: f.Tokens}, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return signin.Store{}, fmt.Errorf("name a file with --tokens: %w", err)
	}
	return signin.Store{Path: filepath.Join(dir, "mailhost", "tokens.json")}, nil
}

type LoginCommand struct {
	BaseURL      string            `name:"base-url" placeholder:"URL" variable:"MAILHOST_BASE_URL" help:"URL of the API, which says where to sign in."`
	Issuer       string            `variable:"MAILHOSTD_OAUTH_ISSUER" placeholder:"URL" help:"OAuth issuer to sign in at. Default: the one that the API names."`
	ClientID     string            `name:"client-id" variable:"MAILHOSTD_OAUTH_CLIENT_ID" placeholder:"ID" help:"Id of this program at the issuer, a public client. Default: the one that the API names."`
	Scope        []string          `variable:"MAILHOSTD_OAUTH_SCOPES" placeholder:"SCOPE" help:"Scopes to request. Default: those that the API names, or openid."`
	Parameter    map[string]string `variable:"MAILHOSTD_OAUTH_PARAMETERS" placeholder:"NAME=VALUE" help:"Parameters for the issuer, separated by semicolons, such as resource=URL. Default: those that the API names."`
	AccountID    cli.ID            `placeholder:"UUID" variable:"MAILHOST_ACCOUNT_ID" help:"Id of the account that you want to use, to check whether you may."`
	Device       bool              `variable:"-" help:"Sign in with a browser on another machine, by a code."`
	CallbackPort int               `variable:"-" placeholder:"PORT" help:"Port on 127.0.0.1 that the browser comes back to, for issuers that do not allow any port. Default: any."`
	ValidFor     time.Duration     `variable:"-" default:"10m" placeholder:"DURATION" help:"Get a new token unless the present one is valid for this long. Default: ${default}."`
	Timeout      time.Duration     `variable:"-" default:"5m" placeholder:"DURATION" help:"How long to wait for the person. Default: ${default}."`
	tokensFlag
}

func (LoginCommand) Help() string {
	return `On a terminal the command signs you in and shows who you are. Elsewhere it prints an
access token: the present one, a refreshed one, or one for which you sign in.

Examples:

    export MAILHOST_BASE_URL=https://mail-api.example.com
    mailhostd login
    export MAILHOST_TOKEN=$(mailhostd login)    # then run terraform
    mailhostd login --device                    # without a browser on this machine`
}

func (c LoginCommand) Validate() error {
	if c.BaseURL == "" && (c.Issuer == "" || c.ClientID == "") {
		return errors.New("--base-url: is required, so that the API says where to sign in, or --issuer and --client-id; $MAILHOST_BASE_URL sets it too")
	}
	if err := cli.CheckURL("--base-url", c.BaseURL); err != nil {
		return err
	}
	if err := signin.CheckParameters(c.Parameter); err != nil {
		return fmt.Errorf("--parameter: %w", err)
	}
	return nil
}

// Run signs in, unless a token is still valid.
func (c LoginCommand) Run(ctx context.Context, p cli.Program) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	token, err := store.Load(client)
	if err != nil {
		return err
	}
	if token == nil || time.Until(token.Expiry) < c.ValidFor {
		if token, err = c.newToken(ctx, p, client, token); err != nil {
			return err
		}
		if claimsOf(token.AccessToken) == nil {
			return fmt.Errorf("the access token of %s is not a JWT, so that no API can verify it; name the API to the issuer, by --parameter resource=URL or, at Auth0, audience=URL, "+
				"or have the operator set mailhostd serve --oauth-parameters", client.Issuer)
		}
		if err := store.Save(client, token); err != nil {
			return fmt.Errorf("the token can't be kept: %w", err)
		}
		c.warn(ctx, p, token)
	}
	if !cli.IsTerminal(p.Stdout) {
		_, err := fmt.Fprintln(p.Stdout, token.AccessToken)
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "You are signed in%s, until %s.\nUse it with:\n\n  export %s=$(mailhostd login)\n",
		describePerson(token.AccessToken), token.Expiry.Local().Format("15:04"), cli.TokenVariable)
	return err
}

// client returns the client to sign in with. Flags take precedence over the settings that the API publishes.
func (c LoginCommand) client(ctx context.Context) (signin.Client, error) {
	var client signin.Client
	if c.Issuer == "" || c.ClientID == "" {
		var err error
		if client, err = signin.Discover(ctx, c.BaseURL); err != nil {
			return client, err
		}
	}
	client.API = strings.TrimRight(c.BaseURL, "/")
	client.Issuer, client.ID = cmp.Or(c.Issuer, client.Issuer), cmp.Or(c.ClientID, client.ID)
	if client.ID == "" {
		return client, fmt.Errorf("%s does not say which client to sign in with; name it with --client-id, or have the operator set mailhostd serve --oauth-client-id", c.BaseURL)
	}
	if len(c.Scope) > 0 {
		client.Scopes = nil
	}
	if len(c.Parameter) > 0 {
		client.Parameters = nil
	}
	if err := client.CheckTarget(c.BaseURL); err != nil { // the published settings, not the flags
		return client, err
	}
	if len(c.Parameter) > 0 {
		client.Parameters = c.Parameter
	}
	client.Scopes = append(client.Scopes, c.Scope...)
	return client, nil
}

// newToken refreshes a token, or makes the person sign in.
func (c LoginCommand) newToken(ctx context.Context, p cli.Program, client signin.Client, old *oauth2.Token) (*oauth2.Token, error) {
	if old != nil && old.RefreshToken != "" {
		// The issuer refuses an expired refresh token: then the person signs in again.
		if token, err := client.Refresh(ctx, old.RefreshToken); err == nil && time.Until(token.Expiry) > 0 {
			return token, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	token, err := c.signIn(ctx, p, client)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, errors.New("nobody has signed in in time; run the command again, or sign in on another machine with --device")
	}
	return token, err
}

func (c LoginCommand) signIn(ctx context.Context, p cli.Program, client signin.Client) (*oauth2.Token, error) {
	if c.Device {
		return client.Device(ctx, func(page, code, complete string) {
			fmt.Fprintf(p.Stderr, "Open %s on any machine and enter the code %s\n", cli.Printable(page), cli.Printable(code))
			if complete != "" {
				fmt.Fprintf(p.Stderr, "or open %s\n", cli.Printable(complete))
			}
		})
	}
	return client.Browser(ctx, c.CallbackPort, func(page string) {
		fmt.Fprintf(p.Stderr, "Sign in with your browser. If it does not open, open this page on this machine, or use --device:\n\n  %s\n\n", cli.Printable(page))
		if cli.IsTerminal(p.Stderr) {
			openBrowser(ctx, page)
		}
	})
}

// openBrowser opens a page. It ignores errors, because the person can open the page too.
func openBrowser(ctx context.Context, page string) {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], page)...)
	if browser.Start() == nil {
		go func() { _ = browser.Wait() }()
	}
}

// warn prints a warning about a new token that expires early or gives no rights.
func (c LoginCommand) warn(ctx context.Context, p cli.Program, token *oauth2.Token) {
	if left := time.Until(token.Expiry); left < c.ValidFor {
		fmt.Fprintf(p.Stderr, "The issuer's tokens are valid for %s, less than --valid-for %s: a longer run of Terraform ends in a 401. Have the issuer make them valid for longer.\n", left.Round(time.Second), c.ValidFor)
		if token.RefreshToken == "" {
			fmt.Fprintln(p.Stderr, "It gave no refresh token either, so that each mailhostd login opens a browser. Some issuers want --scope openid,offline_access for one.")
		}
	}
	if c.BaseURL == "" || c.AccountID == "" {
		return
	}
	account := &apiclient.Client{AccountID: string(c.AccountID), Token: token.AccessToken, URL: c.BaseURL, HTTP: apiclient.NewHTTP()}
	if _, err := apiclient.Call(ctx, account, api.GetCaller, &api.InAccount{}); apiclient.Denied(err) && !apiclient.Missing(err) {
		fmt.Fprintf(p.Stderr, "You have no rights in account %s yet. Its owner grants them, for instance with:\n\n  mailhostd grant add --user %s --plan-only\n\n", c.AccountID, cli.Printable(claimsOf(token.AccessToken).Subject))
	}
}

type personClaims struct {
	Subject string `json:"sub"`
	Name    string `json:"preferred_username"`
}

// claimsOf returns the claims of a JWT access token without verifying it, or nil for another token.
func claimsOf(token string) *personClaims {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	claims := new(personClaims)
	if err != nil || json.Unmarshal(payload, claims) != nil {
		return nil
	}
	return claims
}

// describePerson returns " as …", or "".
func describePerson(token string) string {
	claims := claimsOf(token)
	if claims == nil || claims.Subject == "" {
		return ""
	}
	return " as " + apiclient.DescribeSubject(vocab.SubjectUser, claims.Subject, claims.Name)
}

type LogoutCommand struct{ tokensFlag }

func (LogoutCommand) Help() string {
	return "The issuer's own session in your browser stays. An access token that a shell still has works until it expires."
}

func (c LogoutCommand) Run(p cli.Program) error {
	store, err := c.store()
	if err != nil {
		return err
	}
	if err := store.Clear(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stderr, "The tokens on this machine are removed.")
	return err
}
