package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// databaseName is the file of an embedded account in its data directory.
const databaseName = "mailhost.db"

func (s settings) open(ctx context.Context, p *process, userAgent string) (*client.Client, error) {
	o := client.Options{AccountID: s.accountID, UserAgent: userAgent, RequestsPerMinute: s.requestsPerMinute, Log: logAttempt, Transport: p.replaced.Transport, Hooks: p.replaced.Hooks}
	if s.embedded() {
		return s.openEmbedded(ctx, p, o)
	}
	o.BaseURL, o.Token, o.Advise = s.baseURL, s.token, s.advise
	switch {
	case s.oauth2 != nil:
		o.TokenSource, o.Secrets = tokenSource(s.oauth2), []string{s.oauth2.ClientSecret}
	case s.workload != nil:
		o.TokenSource = s.workload
	}
	return client.New(o), nil
}

// advise implements transport.Advise for the credential in use.
func (s settings) advise(status int, token string) string {
	switch {
	case s.workload != nil:
		return s.workload.advise(status, token)
	case status == http.StatusForbidden:
		return ""
	case s.oauth2 == nil:
		return "Check the credential: " + envToken + ", or token in the provider block. A service account's token stops working when it expires or is revoked."
	case status == 0:
		return "Check token_url, client_id, client_secret and scopes of oauth2 in the provider block, and that this machine reaches the address in token_url."
	}
	return fmt.Sprintf("The credential is an access token that oauth2 in the provider block got for the client %s. The API must trust its issuer, for the audience in it.", s.oauth2.ClientID)
}

// openEmbedded starts the API server in this process, on the data directory's
// database. Several provider processes may do so at once.
func (s settings) openEmbedded(ctx context.Context, p *process, o client.Options) (*client.Client, error) {
	if err := prepareDataDir(s.dataDir); err != nil {
		return nil, fmt.Errorf("the embedded account's directory %s can't be used: %w; make it writable, or set embedded.data_dir or %s to another one", s.dataDir, err, envDataDir)
	}
	db, err := sqlite.Open(ctx, filepath.Join(s.dataDir, databaseName), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	service, c, err := s.serve(ctx, db, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	p.onClose(service.Close)
	return c, nil
}

func (s settings) serve(ctx context.Context, db store.Store, o client.Options) (*apiserver.Service, *client.Client, error) {
	service, err := apiserver.New(apiserver.Options{Store: db, ExposeFaults: true})
	if err != nil {
		return nil, nil, err
	}
	if err := s.loadFixture(ctx, service); err != nil {
		return nil, nil, err
	}
	if err := s.checkAccount(ctx, service); err != nil {
		return nil, nil, err
	}
	if o.AccountID, err = service.EnsureAccount(ctx, s.accountID); err != nil {
		return nil, nil, fmt.Errorf("the embedded account in %s: %w", s.dataDir, err)
	}
	o.BaseURL, o.Embedded = "http://embedded", true
	o.Transport = service.OwnerClient(o.AccountID).Transport
	return service, client.New(o), nil
}

// checkAccount refuses an account id from the environment that would create another account in the file,
// because the id may be meant for a remote API.
func (s settings) checkAccount(ctx context.Context, service *apiserver.Service) error {
	if !s.accountFromEnv {
		return nil
	}
	ids, err := service.Accounts(ctx)
	if err != nil || len(ids) == 0 || slices.Contains(ids, s.accountID) {
		return err
	}
	return fmt.Errorf("the embedded account in %s is %s, but %s names %s: unset the variable, or set account_id in the provider block to the account that you mean",
		s.dataDir, strings.Join(ids, ", "), envAccountID, s.accountID)
}

// prepareDataDir creates the directory with its own .gitignore, because the directory contains customer data.
func prepareDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); err == nil {
		return nil
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o600)
}

// tokenTimeout limits a request to the OAuth issuer. The context of the call that needs the token does
// not, and all calls wait for the token.
const tokenTimeout = 30 * time.Second

// tokenSource returns tokens of the client-credentials flow (RFC 6749, section 4.4).
func tokenSource(flow *clientcredentials.Config) oauth2.TokenSource {
	return flow.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, tokenClient()))
}

// tokenClient returns the client for token issuers. It follows no redirect: a 307 would send the
// issuer's credential to another address.
func tokenClient() *http.Client {
	return &http.Client{
		Timeout:       tokenTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// logAttempt logs an attempt without a response as a warning, because Terraform shows
// nothing while the provider waits for an API that can't be reached.
func logAttempt(ctx context.Context, msg string, fields ...map[string]any) {
	for _, f := range fields {
		if _, failed := f["error"]; failed {
			tflog.Warn(ctx, msg+" without a response", fields...)
			return
		}
	}
	tflog.Debug(ctx, msg, fields...)
}
