package billing_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const (
	cancelPlan = "mailhost_cancel_plan"
	changePlan = "mailhost_change_plan"

	otherAccount = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
)

// billingProxy is a proxy in front of the server that counts the requests that cost money.
type billingProxy struct {
	*acctest.Protocol
	t      *testing.T
	server *acctest.Server
	orders *atomic.Int32
}

// newBillingProxy serves the server. If respond is set, it handles the billing requests.
func newBillingProxy(t *testing.T, s *acctest.Server, respond func(w http.ResponseWriter, r *http.Request, next http.Handler)) *billingProxy {
	t.Helper()
	orders := &atomic.Int32{}
	url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.Contains(r.URL.Path, "/billing/") {
			next.ServeHTTP(w, r)
			return
		}
		orders.Add(1)
		if respond != nil {
			respond(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
	return &billingProxy{Protocol: s.Protocol(t, url), t: t, server: s, orders: orders}
}

// account reads the provider's account.
func (l *billingProxy) account() *api.Account {
	l.t.Helper()
	a, err := l.server.Client.GetAccount(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return a
}

// expect fails the test unless the account has this status and plan after this number of
// billing requests.
func (l *billingProxy) expect(status, plan string, orders int32) {
	l.t.Helper()
	if a := l.account(); a.Status != status || a.PlanID != plan || l.orders.Load() != orders {
		l.t.Errorf("the account is %s on %s after %d billing requests, want %s on %s after %d", a.Status, a.PlanID, l.orders.Load(), status, plan, orders)
	}
}

// noDiagnostics fails the test if there is any diagnostic.
func noDiagnostics(t *testing.T, diags []*tfprotov6.Diagnostic) {
	t.Helper()
	if len(diags) > 0 {
		t.Error(acctest.Render(diags))
	}
}

// respondWith responds to every billing request with this body.
func respondWith(body string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}
}
