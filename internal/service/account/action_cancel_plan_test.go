package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

func TestCancelAtPeriodEnd(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		l := newBillingProxy(t, s, nil)
		config := map[string]any{"confirm_account_id": strings.ToUpper(s.AccountID)}
		progress, diags := l.Invoke(cancelPlan, config)
		l.NoErrors(diags)
		l.expect(vocab.AccountPendingCancellation, vocab.PlanSMTPPerMailbox, 1)
		stands, again := "It is on the plan smtp_per_mailbox.", "is cancelled as of "+*l.account().CancelsAt
		if s.PublishedOnly {
			stands, again = "Its current plan can't be read.", "the account's status is pending_cancellation"
		}
		acctest.Expect(t, diags, "WARNING: The action will cancel the plan of the account "+s.AccountID, stands, "the plan is cancelled at the end of the billing period")
		acctest.ExpectText(t, strings.Join(progress, "\n"), "Account "+s.AccountID, stands, "With this action the plan is cancelled at the end",
			"Response of the API: scheduled, the account's status is pending_cancellation", "it takes effect at "+*l.account().CancelsAt)

		progress, diags = l.Invoke(cancelPlan, config)
		acctest.ExpectText(t, strings.Join(progress, "\n"), again)
		if !s.PublishedOnly {
			noDiagnostics(t, diags)
			acctest.ExpectText(t, strings.Join(progress, "\n"), "Nothing was changed.")
			l.expect(vocab.AccountPendingCancellation, vocab.PlanSMTPPerMailbox, 1)
		}
		l.NoErrors(diags)
	})
}

func TestCancelImmediately(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		l := newBillingProxy(t, s, nil)
		_, err := s.Client.CancelPlan(t.Context(), api.CancelPlanBody{})
		assert.NilError(t, err)
		config := map[string]any{"confirm_account_id": s.AccountID, "cancel_immediately": true, "cancel_at_period_end": false}
		progress, diags := l.Invoke(cancelPlan, config)
		l.NoErrors(diags)
		l.expect(vocab.AccountCancelled, vocab.PlanSMTPPerMailbox, 1)
		acctest.Expect(t, diags, "WARNING: The action will cancel", "the plan is cancelled at once", "read but not changed")
		acctest.ExpectText(t, strings.Join(progress, "\n"), "Response of the API: completed, the account's status is cancelled")

		for _, immediately := range []bool{true, false} {
			config["cancel_immediately"], config["cancel_at_period_end"] = immediately, !immediately
			progress, diags = l.Invoke(cancelPlan, config)
			l.NoErrors(diags)
			acctest.ExpectText(t, strings.Join(progress, "\n"), "The account "+s.AccountID+" is cancelled", "Nothing was changed.")
		}
	})
}

// TestRefusedBefore checks the configurations that are refused before a request.
func TestRefusedBefore(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	l := newBillingProxy(t, s, nil)
	const account, end, plan, date = "confirm_account_id", "cancel_at_period_end", "plan_id", "effective_date"
	const title, text, more = "title", "description", "attributes"
	type config = map[string]any
	for name, c := range map[string]struct {
		action string
		config config
		at     string
		want   []string
	}{
		"another account": {cancelPlan, config{account: otherAccount}, account, []string{
			": Not the account that this provider manages", "confirm_account_id is " + otherAccount, "manages the account " + s.AccountID, "Nothing was changed.",
		}},
		"no account":       {cancelPlan, config{account: "production"}, account, []string{"must be a UUID"}},
		"both":             {cancelPlan, config{end: true, "cancel_immediately": true}, end, []string{"Exactly one of cancel_at_period_end and cancel_immediately must be true."}},
		"neither":          {cancelPlan, config{end: false}, end, []string{"Exactly one of"}},
		"change elsewhere": {changePlan, to(s, config{account: otherAccount}), account, []string{": Not the account"}},
		"no such plan":     {changePlan, to(s, config{plan: "free"}), plan, []string{"plan_id must be one of smtp_per_mailbox, smtp_per_proxy"}},
		"no plan":          {changePlan, to(s, config{plan: nil}), plan, nil},
		"no date":          {changePlan, to(s, config{date: "tomorrow"}), date, []string{"RFC 3339"}},
		"no title":         {submitFeedback, config{title: "", text: "D"}, title, []string{"title must be 1 to 255 characters long"}},
		"long":             {submitFeedback, config{title: "T", text: strings.Repeat("a", 10_001)}, text, []string{"description must be 1 to 10000 characters long"}},
		"no category":      {submitFeedback, config{title: "T", text: "D", "category": "complaint"}, "category", []string{"category must be one of bug_report"}},
		"no JSON":          {submitFeedback, config{title: "T", text: "D", more: `{"a":`}, more, []string{"must be a JSON object", "it is no JSON: unexpected end"}},
		"no object":        {submitFeedback, config{title: "T", text: "D", more: `null`}, more, []string{"it is not a JSON object"}},
	} {
		if c.action != submitFeedback && c.config[account] == nil {
			c.config[account] = s.AccountID
		}
		_, diags := l.Invoke(c.action, c.config)
		if acctest.Expect(t, diags, append([]string{fmt.Sprintf("ERROR at AttributeName(%q)", c.at)}, c.want...)...); len(diags) != 1 {
			t.Errorf("%s: the plan was not the only refusal, or it announced a refused change:\n%s", name, acctest.Render(diags))
		}
	}
	l.expect(vocab.AccountActive, vocab.PlanSMTPPerMailbox, 0)
}

// TestLost loses the response to a successful change of the plan, which is never resent. If the
// account can be read, the next run finds the change in effect.
func TestLost(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		for _, c := range []struct{ operation, action, done, status, plan, now string }{
			{"change-plan", changePlan, "change", vocab.AccountActive, vocab.PlanSMTPPerProxy, "is on the plan smtp_per_proxy."},
			{"cancel-plan", cancelPlan, "cancel", vocab.AccountPendingCancellation, vocab.PlanSMTPPerProxy, "is cancelled as of "},
		} {
			l := newBillingProxy(t, s, nil)
			config := map[string]any{"confirm_account_id": s.AccountID}
			if c.action == changePlan {
				config = to(s, nil)
			}
			s.Fault(t, fault.Rule{Operation: c.operation, Drop: fault.After})
			_, diags := l.Invoke(c.action, config)
			l.expect(c.status, c.plan, 1)
			acctest.Expect(t, diags, "ERROR: Can't "+c.done+" the plan of the account "+s.AccountID, "the plan may have been "+c.done, "It was not sent again. Check the account's plan")
			if s.PublishedOnly {
				continue
			}
			s.Faults.Clear()
			progress, diags := l.Invoke(c.action, config)
			l.NoErrors(diags)
			l.expect(c.status, c.plan, 1)
			acctest.ExpectText(t, strings.Join(progress, "\n"), c.now, "Nothing was changed.")
		}
	})
}

// TestLook checks that the action first reads the account: it continues if it lacks the
// permission, and stops if the API fails.
func TestLook(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	s.Fault(t, fault.Rule{Operation: api.GetAccount.ID, Status: http.StatusUnauthorized})
	config := map[string]any{"confirm_account_id": s.AccountID}
	_, diags := p.Invoke(cancelPlan, config)
	acctest.Expect(t, diags, "ERROR: Can't read the account "+s.AccountID+", so nothing was changed", "HTTP 401, request id ")
	s.Faults.Clear()
	a, err := s.Client.GetAccount(t.Context())
	assert.Check(t, err == nil && a.Status == vocab.AccountActive, "the account is %v, %v", a, err)
	s.Fault(t, fault.Rule{Operation: api.GetAccount.ID, Status: http.StatusForbidden})
	progress, diags := p.Invoke(cancelPlan, config)
	p.NoErrors(diags)
	acctest.ExpectText(t, strings.Join(progress, "\n"), "Its current plan can't be read.", "Response of the API: scheduled")
}
