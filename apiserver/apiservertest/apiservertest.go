// Package apiservertest runs the account management API in a test: a real service, in memory and on a
// loopback address, under the test's control.
//
//	func TestSomething(t *testing.T) {
//		s := apiservertest.Start(t)
//		client := mymail.NewClient(s.URL, s.AccountID, s.Token)
//		…
//	}
//
// Start takes a few milliseconds, so each test can use its own service. In a shared service, tests are separated
// by accounts, see [Server.NewAccount], but share the clock, faults, journal, outbox and the names of domains.
//
// The package is also for tests of clients and Terraform modules outside this repository. Until 1.0, its
// exported names, and those of the packages control/fault and control/journal that it returns, change
// only with a minor version and an entry in the changelog; later they change only with a major version.
package apiservertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/replay"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// Server is a running service with one account. It is safe for concurrent use.
type Server struct {
	// Account is the first account of the fixture, or an empty account without a fixture.
	Account
	// Clock moves the service's time, unless [Configure] sets another clock. It starts at the system's
	// time, and continues from any time that a test sets.
	Clock *control.Clock
	// Faults makes requests fail.
	Faults *fault.Injector
	// Journal contains the requests that the service received, without their secrets.
	Journal *journal.Journal
	// Service is the service itself, for the actions of an operator.
	Service *apiserver.Service

	http *httptest.Server
}

// Account is an account of a service, with its owner's token.
type Account struct {
	// URL is the URL of the API, the base_url of a provider. Links in messages begin with it.
	URL string
	// AccountID is the account, and WorkspaceID its default workspace.
	AccountID, WorkspaceID string
	// Token permits every capability in the account.
	Token string
}

// Option changes the start of a service.
type Option func(*settings) error

type settings struct {
	apiserver.Options
	fixture   *fixture.Fixture
	recording *replay.Recording
}

// Fixture starts the service with the accounts of a fixture, a JSON file.
func Fixture(file string) Option {
	return func(s *settings) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		s.fixture, err = fixture.Read(f)
		return err
	}
}

// Recording replays a recording of mailhostd proxy --record, or another one of go-vcr, in place of the
// service. The account is the recorded one, and accepts any token. Faults and journal work as usual.
func Recording(file string) Option {
	return func(s *settings) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		if s.recording, err = replay.Read(f); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	}
}

// PublishedOnly disables all operations except the 22 published ones.
func PublishedOnly() Option {
	return Configure(func(o *apiserver.Options) { o.PublishedOnly = true })
}

// Configure changes the options of the service, such as its store, its rate limit or its domain prices.
// A Middleware wraps faults and journal.
func Configure(fn func(*apiserver.Options)) Option {
	return func(s *settings) error { fn(&s.Options); return nil }
}

// Start starts a service for a test, and stops it at the end of the test.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s, err := New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// New is [Start] without a test, for instance for TestMain. The caller must close the service.
func New(options ...Option) (*Server, error) {
	plane := new(control.Plane)
	o := settings{fixture: new(fixture.Fixture), Options: apiserver.Options{
		Clock: plane.Clock.Now, PasswordCost: apiserver.PasswordCost{MemoryKiB: 8, Passes: 1}, Middleware: func(next http.Handler) http.Handler { return next },
	}}
	for _, option := range options {
		if err := option(&o); err != nil {
			return nil, fmt.Errorf("apiservertest: %w", err)
		}
	}
	if o.recording != nil { // a nil pointer would be a non-nil interface
		plane.Replay = o.recording
	}
	around := o.Middleware
	o.Middleware = func(next http.Handler) http.Handler {
		if next = plane.Middleware(next); around != nil {
			next = around(next)
		}
		return next
	}
	// Links in messages contain the listener's URL, so create the listener first.
	s := &Server{Clock: &plane.Clock, Faults: &plane.Faults, Journal: &plane.Journal, http: httptest.NewUnstartedServer(nil)}
	s.URL = "http://" + s.http.Listener.Addr().String()
	o.PublicURL = cmp.Or(o.PublicURL, s.URL)
	if err := s.start(context.Background(), o); err != nil {
		return nil, errors.Join(fmt.Errorf("apiservertest: %w", err), s.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, o settings) (err error) {
	if o.Store == nil {
		if o.Store, err = sqlite.Open(ctx, sqlite.Memory, sqlite.Options{}); err != nil {
			return err
		}
	}
	if s.Service, err = apiserver.New(o.Options); err != nil {
		return errors.Join(err, o.Store.Close())
	}
	s.http.Config.Handler = s.Service.Handler()
	s.http.Start()
	if err = s.Service.LoadFixture(ctx, o.fixture); err != nil {
		return err
	}
	if len(o.fixture.Accounts) == 0 {
		id := ""
		if o.recording != nil {
			id = o.recording.AccountID()
		}
		s.Account, err = s.newAccount(ctx, id)
		return err
	}
	id := o.fixture.Accounts[0].ID
	token, err := s.Service.IssueOwnerToken(ctx, id, "owner")
	s.Account = s.account(id, token)
	return err
}

// Close stops the service. It first releases requests that a fault holds.
func (s *Server) Close() error {
	s.Faults.Clear()
	s.http.Close()
	if s.Service == nil {
		return nil
	}
	return s.Service.Close()
}

// NewAccount creates another account.
func (s *Server) NewAccount(t testing.TB) Account {
	t.Helper()
	a, err := s.newAccount(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newAccount creates an account, with a new id if id is empty.
func (s *Server) newAccount(ctx context.Context, id string) (Account, error) {
	id, token, err := s.Service.InitAccount(ctx, id, "owner")
	if err != nil {
		return Account{}, err
	}
	return s.account(id, token), nil
}

func (s *Server) account(id, token string) Account {
	return Account{URL: s.URL, AccountID: id, WorkspaceID: api.DefaultWorkspaceID(id), Token: token}
}

// Outbox returns the newest messages that the service would have sent, oldest first.
func (s *Server) Outbox() []email.Message { return s.Service.Outbox() }

// Client returns an HTTP client that sends the account's token.
func (a Account) Client() *http.Client {
	return oauth2.NewClient(context.Background(), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: a.Token}))
}

// Path returns the URL of a path below the account's prefix, such as "/mailboxes".
func (a Account) Path(path string) string {
	return a.URL + strings.Replace(api.Prefix, "{account_id}", a.AccountID, 1) + path
}

// Setenv sets the environment variables by which the provider and mailhostd's commands find the account,
// until the end of the test. Parallel tests must use ProviderConfig instead.
func (a Account) Setenv(t testing.TB) {
	t.Helper()
	t.Setenv("MAILHOST_BASE_URL", a.URL)
	t.Setenv("MAILHOST_ACCOUNT_ID", a.AccountID)
	t.Setenv("MAILHOST_TOKEN", a.Token)
}

// ProviderConfig returns the provider block for the account, in HCL.
func (a Account) ProviderConfig() string {
	return fmt.Sprintf("provider \"mailhost\" {\n  base_url   = %q\n  account_id = %q\n  token      = %q\n}\n", a.URL, a.AccountID, a.Token)
}
