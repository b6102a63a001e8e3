package acctest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Options configures a Server.
type Options struct {
	// PublishedOnly offers only the published operations.
	PublishedOnly bool
	Registrar     apiserver.Registrar
	// Tokens verifies access tokens; nil: only service accounts have access.
	Tokens identity.TokenVerifier
}

// Server is an API server on loopback with one account.
type Server struct {
	*apiservertest.Server
	PublishedOnly bool
	AccountID     string
	WorkspaceID   string
	Token         string
	// Client calls the API as the account's owner, to set up and check objects. All operations
	// work, even if PublishedOnly is set. [Server.Owner] sends operations without a method of Client.
	Client *client.Client
	owner  *apitest.Client
}

// NewServer starts a server and stops it at the end of the test.
func NewServer(t testing.TB, o Options) *Server {
	t.Helper()
	var full *apiserver.Service
	served := apiservertest.Start(t, apiservertest.Configure(func(options *apiserver.Options) {
		var err error
		options.Store, err = sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
		assert.NilError(t, err)
		options.MaxDedicatedIPs, options.Registrar = -1, o.Registrar
		full, err = apiserver.New(*options)
		assert.NilError(t, err)
		options.PublishedOnly, options.Tokens = o.PublishedOnly, o.Tokens
	}))
	a := served.Account
	owner := full.OwnerClient(a.AccountID)
	return &Server{
		Server: served, PublishedOnly: o.PublishedOnly, AccountID: a.AccountID, WorkspaceID: a.WorkspaceID, Token: a.Token,
		Client: client.New(client.Options{BaseURL: "http://in-process", AccountID: a.AccountID, Transport: owner.Transport}),
		owner:  &apitest.Client{T: t, HTTP: owner, Account: a.AccountID},
	}
}

// Owner returns a client of the account's owner for operations that the provider does not need.
func (s *Server) Owner(t testing.TB) *apitest.Client { return s.owner.In(t) }

// Advance moves the server's clock forward.
func (s *Server) Advance(d time.Duration) {
	if err := s.Clock.Advance(d); err != nil {
		panic(err)
	}
}

// ProviderConfig returns a provider block for the server.
func (s *Server) ProviderConfig() string {
	return apiservertest.Account{URL: s.URL, AccountID: s.AccountID, Token: s.Token}.ProviderConfig()
}

// Sent returns the ids of the writing operations in the server's journal, in order.
func (s *Server) Sent() []string {
	var ids []string
	for _, e := range s.Journal.Entries(journal.Filter{}) {
		if e.Method != http.MethodGet {
			ids = append(ids, e.Operation)
		}
	}
	return ids
}

// Registrant is a valid contact for domain purchases.
var Registrant = api.ContactInfo{
	FirstName: "Zoë", LastName: "Müller", Organization: "Example GmbH", Email: "hostmaster@example.com", Phone: "+493023125000",
	Address1: "Straße der Beispiele 1", Zip: "10115", City: "Berlin", State: "Berlin", Country: "DE",
}

// Domain buys a domain outside Terraform.
func (s *Server) Domain(t testing.TB, name string) *api.Domain {
	t.Helper()
	_, err := s.Client.PurchaseDomain(t.Context(), name, api.PurchaseDomainsBody{WorkspaceID: s.WorkspaceID, ContactInfo: Registrant})
	assert.NilError(t, err)
	d, err := s.Client.Domains.Get(t.Context(), name)
	assert.NilError(t, err)
	return d
}

// Mailbox creates a mailbox outside Terraform.
func (s *Server) Mailbox(t testing.TB, domain, localPart string) *api.Mailbox {
	t.Helper()
	m, err := s.Client.CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: domain, LocalPart: localPart, FirstName: "Jane", LastName: "Doe"})
	assert.NilError(t, err)
	return m
}

// LimitedToken returns the token of a new service account with only these capabilities.
func (s *Server) LimitedToken(t testing.TB, capabilities ...vocab.Capability) string {
	t.Helper()
	var grants []apitest.Grant
	for _, c := range slices.Compact(slices.Sorted(slices.Values(capabilities))) {
		grants = append(grants, apitest.Grant{Capability: c})
	}
	_, token := s.Owner(t).LimitedAccount("limited", grants...)
	return token
}

// Fault adds a fault to the server.
func (s *Server) Fault(t testing.TB, rule fault.Rule) {
	t.Helper()
	_, err := s.Faults.Add(rule)
	assert.NilError(t, err)
}

// WithoutKeys serves an API that ignores idempotency keys. It returns the URL, for Protocol.
func (s *Server) WithoutKeys(t testing.TB) string {
	t.Helper()
	return s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Del(api.IdempotencyKeyHeader)
		next.ServeHTTP(w, r)
	})
}

// Front serves the API behind a handler that may respond itself or call next. Unlike a Fault, the
// handler can change the content of responses, or run a step of the test during a request. Front
// returns the URL, for Protocol.
func (s *Server) Front(t testing.TB, handle func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", r.Header.Get("X-Request-Id")) // as in every response of the API
		handle(w, r, s.Service.Handler())
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// Rewrite sends the response of next with its body changed by edit.
func Rewrite(w http.ResponseWriter, r *http.Request, next http.Handler, edit func(body string) string) {
	response := httptest.NewRecorder()
	next.ServeHTTP(response, r)
	maps.Copy(w.Header(), response.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(response.Code)
	_, _ = io.WriteString(w, edit(response.Body.String()))
}

// Refuse sends an error response in the API's format. Dots separate the steps of loc.
func Refuse(w http.ResponseWriter, status int, loc, msg string) {
	w.Header().Set("Content-Type", "application/json")
	if status != http.StatusNotFound { // a 404 with another request's id is taken for a proxy's
		w.Header().Set("X-Request-Id", "refused-by-test")
	}
	w.WriteHeader(status)
	steps := strings.Split(loc, ".")
	for i := range steps {
		steps[i] = fmt.Sprintf("%q", steps[i])
	}
	fmt.Fprintf(w, `{"detail":[{"loc":[%s],"msg":%q,"type":"value_error"}]}`, strings.Join(steps, ","), msg)
}
