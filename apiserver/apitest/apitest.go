// Package apitest is the kit for tests of the server: a service with a test clock and a test log,
// and a client that checks every response against the OpenAPI document.
//
//	s := apitest.New(t)
//	s.Domain("example.com")
//	s.CreateMailbox("example.com", "ada").Want(201).Is("status", "active")
//
// Requests are made in process; [Server.Listen] serves them on loopback too. A test
// injects faults with a Plane of package control, passed as the options' Middleware.
//
// Stability: none. The package is exported for other packages of this repository only.
package apitest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const (
	// AccountID is the account of every server.
	AccountID = sample.AccountID
	// UnknownID is an id that no object uses.
	UnknownID = sample.UnknownID
)

// Start is the time of a new [Clock].
var Start = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// patience limits the wait for an event that normally happens at once. It is long, because
// the machine may be busy.
const patience = time.Minute

// Cheap minimises the cost of hashing a master password.
var Cheap = apiserver.PasswordCost{MemoryKiB: 8, Passes: 1}

// TB contains the methods of a *testing.T, a *testing.B or a *rapid.T that the kit uses.
type TB interface {
	assert.TestingT
	Helper()
	Context() context.Context
	Cleanup(fn func())
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Object is a JSON object.
type Object = sample.Object

// Clock begins at [Start] and stands still until a test moves it. It is safe for concurrent use.
type Clock struct{ sinceStart atomic.Int64 }

// Now returns the clock's time.
func (c *Clock) Now() time.Time { return Start.Add(time.Duration(c.sinceStart.Load())) }

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) { c.sinceStart.Add(int64(d)) }

// Set makes the clock show t.
func (c *Clock) Set(t time.Time) { c.sinceStart.Store(int64(t.Sub(Start))) }

// Server is a service with one account. Its Client acts as the account's owner, in process.
type Server struct {
	*Client
	Service *apiserver.Service
	Clock   *Clock // unused if the options set another clock
}

// New starts a service with an account, and stops it at the end of the test. configure
// changes the options before the start.
func New(t TB, configure ...func(*apiserver.Options)) *Server {
	t.Helper()
	c := new(Clock)
	o := apiserver.Options{Clock: c.Now, PasswordCost: Cheap, MaxDedicatedIPs: -1}
	for _, fn := range configure {
		fn(&o)
	}
	s := &Server{Service: NewService(t, o), Clock: c}
	s.Client = s.Owner(t, AccountID)
	return s
}

// NewService starts a service without an account, by default with a store in memory, and
// stops it at the end of the test.
func NewService(t TB, o apiserver.Options) *apiserver.Service {
	t.Helper()
	if o.Store == nil {
		o.Store = OpenStore(t)
	}
	service, err := apiserver.New(o)
	assert.NilError(t, err)
	t.Cleanup(func() {
		assert.Check(t, service.Close())
	})
	return service
}

// OpenStore opens an empty store in memory, which the service closes. It is a variable so that the
// API's own tests can run on PostgreSQL without linking its driver into every test program.
var OpenStore = func(t TB) store.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(t, err)
	return db
}

// Owner creates an account, unless it exists, and returns a client that acts as its owner.
func (s *Server) Owner(t TB, accountID string) *Client {
	t.Helper()
	_, err := s.Service.EnsureAccount(t.Context(), accountID)
	assert.NilError(t, err)
	return &Client{T: t, HTTP: s.Service.OwnerClient(accountID), Account: accountID}
}

// As returns a client that authenticates with a token.
func (s *Server) As(token string) *Client {
	return &Client{T: s.T, HTTP: s.Service.Client(), Account: AccountID, Token: token}
}

// Listen serves the API on loopback, and returns a client with an owner's token.
func (s *Server) Listen() *Client {
	s.T.Helper()
	token, err := s.Service.IssueOwnerToken(s.T.Context(), AccountID, "owner")
	if err != nil {
		s.T.Fatal(err)
	}
	server := httptest.NewServer(s.Service.Handler())
	s.T.Cleanup(server.Close)
	// net/http retries a GET if a reused connection was dropped.
	transport := &http.Transport{DisableKeepAlives: true}
	return &Client{T: s.T, HTTP: &http.Client{Transport: transport}, URL: server.URL, Account: AccountID, Token: token}
}

// Receive receives from a channel. It fails the test after a minute.
func Receive[V any](t TB, from <-chan V) V {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("nothing was received within %s", patience)
		panic("unreachable")
	}
}
