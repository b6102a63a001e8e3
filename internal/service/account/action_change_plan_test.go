package account_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const (
	farAway = "2999-01-01T01:00:00+01:00"
	over    = "2001-01-01T00:00:00Z"
)

// to is the configuration of a change to another plan than the default.
func to(s *acctest.Server, more map[string]any) map[string]any {
	config := map[string]any{"confirm_account_id": s.AccountID, "plan_id": vocab.PlanSMTPPerProxy}
	maps.Copy(config, more)
	return config
}

func TestChangeNow(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		l := newBillingProxy(t, s, nil)
		progress, diags := l.Invoke(changePlan, to(s, nil))
		l.NoErrors(diags)
		l.expect(vocab.AccountActive, vocab.PlanSMTPPerProxy, 1)
		stands := "It is on the plan smtp_per_mailbox."
		if s.PublishedOnly {
			stands = "Its current plan can't be read."
		}
		acctest.Expect(t, diags, "WARNING: The action will change the plan of the account "+s.AccountID, stands, "the plan changes to smtp_per_proxy at once")
		acctest.ExpectText(t, strings.Join(progress, "\n"), stands, "With this action the plan changes to smtp_per_proxy at once.",
			"Response of the API: completed", "the plan before is smtp_per_mailbox, the plan then is smtp_per_proxy")

		progress, diags = l.Invoke(changePlan, to(s, nil))
		l.NoErrors(diags)
		if s.PublishedOnly {
			acctest.ExpectText(t, strings.Join(progress, "\n"), "Response of the API: unchanged, that is the plan already, so that nothing was changed")
			return
		}
		noDiagnostics(t, diags)
		acctest.ExpectText(t, strings.Join(progress, "\n"), "The account "+s.AccountID+" is on the plan smtp_per_proxy. Nothing was changed.")
		l.expect(vocab.AccountActive, vocab.PlanSMTPPerProxy, 1)
	})
}

func TestChangeLater(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		l := newBillingProxy(t, s, nil)
		s.Advance(-48 * time.Hour) // the API's clock decides what is past, and not this machine's
		soon := time.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339)
		for orders := range int32(2) { // the second change is a repetition
			progress, diags := l.Invoke(changePlan, to(s, map[string]any{"effective_date": soon}))
			l.NoErrors(diags)
			l.expect(vocab.AccountActive, vocab.PlanSMTPPerMailbox, orders+1)
			acctest.Expect(t, diags, "WARNING: The action will change", "at "+soon)
			acctest.ExpectText(t, strings.Join(progress, "\n"), "Response of the API: scheduled", "it takes effect at ")
		}
		s.Advance(48 * time.Hour)
		l.expect(vocab.AccountActive, vocab.PlanSMTPPerProxy, 2)
	})
}

// TestChangeOver checks that a date in the past is an error, unless the account is already on the plan.
func TestChangeOver(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	l := newBillingProxy(t, s, nil)
	config := to(s, map[string]any{"effective_date": over})
	_, diags := l.Invoke(changePlan, config)
	acctest.Expect(t, diags, `ERROR at AttributeName("effective_date"): Invalid effective_date`, "must not be in the past, got "+over)
	l.expect(vocab.AccountActive, vocab.PlanSMTPPerMailbox, 0)

	_, diags = l.InvokePlanned(changePlan, to(s, map[string]any{"effective_date": acctest.Unknown}), config)
	acctest.Expect(t, diags, "WARNING", "at a date that is not known yet",
		`ERROR at AttributeName("effective_date"): Can't change the plan of the account `+s.AccountID, "Must not be in the past.", "HTTP 422, request id ")

	now := vocab.PlanSMTPPerProxy
	_, err := s.Client.ChangePlan(t.Context(), api.ChangePlanBody{PlanID: &now})
	assert.NilError(t, err)
	progress, diags := l.Invoke(changePlan, config)
	noDiagnostics(t, diags)
	acctest.ExpectText(t, strings.Join(progress, "\n"), "is on the plan smtp_per_proxy. Nothing was changed.")
}

// TestChangeRefusedLater checks errors that only the apply can find.
func TestChangeRefusedLater(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	l := newBillingProxy(t, s, nil)
	_, diags := l.InvokePlanned(changePlan, to(s, map[string]any{"confirm_account_id": acctest.Unknown}), to(s, map[string]any{"confirm_account_id": otherAccount}))
	acctest.Expect(t, diags, "WARNING: The action will change the plan of the account "+s.AccountID, `ERROR at AttributeName("confirm_account_id"): Not the account`)
	l.expect(vocab.AccountActive, vocab.PlanSMTPPerMailbox, 0)

	_, diags = l.InvokePlanned(changePlan, to(s, map[string]any{"plan_id": acctest.Unknown}), to(s, map[string]any{"plan_id": "free"}))
	acctest.Expect(t, diags, "WARNING", "another one, which is not known yet", `ERROR at AttributeName("plan_id"): Can't change the plan`, "HTTP 422, request id ")
	l.expect(vocab.AccountActive, vocab.PlanSMTPPerMailbox, 1)
}

// TestUnmet checks that a success response without the requested change is an error.
func TestUnmet(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for response, c := range map[string]struct{ action, want string }{
		`{"status":"rejected","eligible":false}`: {changePlan, "The plan was not changed. The API responded: rejected, the account was not eligible"},
		`{"status":"completed","eligible":true,"previous_plan_id":"smtp_per_mailbox","target_plan_id":"smtp_premium"}`: {changePlan, "The plan changes to smtp_premium instead of smtp_per_proxy"},
		`{"status":"ok"}`: {changePlan, ""},
		`{"status":"rejected","account_status":"active","eligible":false}`:                {cancelPlan, "The plan was not cancelled. The API responded: rejected, the account was not eligible, so that nothing was changed, the account's status is active."},
		`{"status":"unchanged","account_status":"pending_cancellation","eligible":false}`: {cancelPlan, ""},
	} {
		config := to(s, nil)
		if c.action == cancelPlan {
			config = map[string]any{"confirm_account_id": s.AccountID}
		}
		progress, diags := newBillingProxy(t, s, respondWith(response)).Invoke(c.action, config)
		if c.want != "" {
			acctest.Expect(t, diags, "ERROR: Can't ", "the plan of the account "+s.AccountID, c.want)
		} else if acctest.Errors(diags) > 0 {
			t.Error(response, acctest.Render(diags))
		}
		acctest.ExpectText(t, strings.Join(progress, "\n"), "Response of the API:")
	}
}

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
