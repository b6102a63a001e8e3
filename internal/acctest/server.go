package acctest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Options configures a Server.
type Options struct {
	// PublishedOnly serves the 22 published operations alone.
	PublishedOnly bool
	Registrar     apiserver.Registrar
}

// Server is an API server with one account, over loopback.
type Server struct {
	*httptest.Server
	PublishedOnly bool
	Service       *apiserver.Service
	AccountID     string
	WorkspaceID   string
	Token         string
	// Client calls the server as the account's owner, to arrange and to check
	// what a test needs; it has all operations, whatever is served.
	Client *client.Client
	// Control has the faults, the journal and the clock of what is served.
	Control control.Plane
}

// NewServer starts a server that ends with the test.
func NewServer(t testing.TB, o Options) *Server {
	t.Helper()
	db, err := sqlite.Open(t.Context(), ":memory:", sqlite.Options{})
	must(t, err)
	s := &Server{PublishedOnly: o.PublishedOnly}
	s.Service, err = apiserver.New(apiserver.Options{
		Store: db, Clock: s.Control.Clock.Now, Middleware: s.Control.Middleware, PublishedOnly: o.PublishedOnly, Registrar: o.Registrar,
	})
	must(t, err)
	t.Cleanup(func() { _ = s.Service.Close() })
	s.Server = httptest.NewServer(s.Service.Handler())
	t.Cleanup(s.Server.Close)

	ctx := context.Background()
	s.AccountID, err = s.Service.EnsureAccount(ctx, "")
	must(t, err)
	s.WorkspaceID = api.DefaultWorkspaceID(s.AccountID)
	s.Token, err = s.Service.IssueOwnerToken(ctx, s.AccountID, "acceptance test")
	must(t, err)

	full, err := apiserver.New(apiserver.Options{Store: db, Clock: s.Control.Clock.Now})
	must(t, err)
	s.Client, err = client.New(client.Options{
		BaseURL: "http://in-process", AccountID: s.AccountID, Transport: full.OwnerClient(s.AccountID).Transport,
	})
	must(t, err)
	return s
}

// Advance moves the server's clock ahead.
func (s *Server) Advance(d time.Duration) {
	if err := s.Control.Clock.Advance(d); err != nil {
		panic(err)
	}
}

// ProviderConfig is a provider block that points at the server.
func (s *Server) ProviderConfig() string {
	return fmt.Sprintf(`
provider "mailhost" {
  base_url   = %q
  account_id = %q
  token      = %q
}
`, s.URL, s.AccountID, s.Token)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
