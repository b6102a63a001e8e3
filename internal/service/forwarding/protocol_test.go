package forwarding_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_forwarding"

type attributes = map[string]any

// TestWholeScope checks that a plan names the scope of the mail that a new target receives.
func TestWholeScope(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	whole := func(config attributes, prior *acctest.Object) string {
		t.Helper()
		_, diags := p.Plan(typeName, config, prior)
		p.NoErrors(diags)
		for _, d := range diags {
			if strings.HasPrefix(d.Summary, "The plan forwards all mail of ") {
				return d.Summary
			}
		}
		return ""
	}
	config := attributes{"target_email": "jane@example.org"}
	assert.Check(t, is.Contains(whole(config, nil), "the account to jane@example.org"), "a new rule of the account")
	config["domain"] = "example.com"
	assert.Check(t, is.Contains(whole(config, nil), "the domain example.com to jane"), "a new rule of a domain")
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	assert.Check(t, is.Equal(whole(config, made), ""), "an unchanged rule")
	config["target_email"] = "joe@example.org"
	assert.Check(t, is.Contains(whole(config, made), "joe@example.org"), "another target")
}

// TestTooManyMessages checks that a create or a change of the target waits if the API
// limits its messages and, if the wait is too long, explains the next step.
func TestTooManyMessages(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for i := range 20 {
		create(t, s, api.CreateForwardingBody{TargetEmail: fmt.Sprintf("x%d@example.org", i)})
	}
	retryAfter := "900" // longer than the client waits
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		recorder := httptest.NewRecorder()
		next.ServeHTTP(recorder, r)
		if recorder.Code == http.StatusTooManyRequests {
			// The server's clock runs, so that some seconds may have passed.
			wait, err := strconv.Atoi(recorder.Header().Get("Retry-After"))
			assert.Check(t, err == nil && wait >= 30 && wait <= 60, "Retry-After is %d, %v", wait, err)
			recorder.Header().Set("Retry-After", retryAfter)
			if retryAfter == "0" {
				s.Advance(time.Minute)
			}
		}
		maps.Copy(w.Header(), recorder.Header())
		w.WriteHeader(recorder.Code)
		_, _ = recorder.Body.WriteTo(w)
	}))
	config := attributes{"target_email": "jane@example.org"}
	none, diags := p.Apply(t.Context(), typeName, config, nil)
	acctest.Expect(t, diags, `ERROR at AttributeName("target_email"): Can't create the forwarding rule to jane@example.org of the account`,
		"oo many verification messages for the account", "try again in ", "HTTP 429, request id ", "Run apply again after that time")
	assert.Check(t, none == nil || none.State.IsNull(), "the state is not null")
	retryAfter = "0"
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	retryAfter = "900"
	_, diags = p.Apply(t.Context(), typeName, attributes{"target_email": "joe@example.org"}, made)
	acctest.Expect(t, diags, `ERROR at AttributeName("target_email"): Can't change the forwarding rule to jane@example.org`, "HTTP 429", "Run apply again after that time")
}

// isActive returns the attribute active of a state.
func isActive(o *acctest.Object) bool {
	return strings.Contains(o.State.String(), `"active":tftypes.Bool<"true">`)
}

// TestAdoptPending checks that the plan to adopt a pending rule with active = false announces
// that the apply switches the rule off, because the API does not return whether it is off already.
func TestAdoptPending(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
	p := s.Protocol(t, "")
	config := attributes{"target_email": "jane@example.org", "on_existing": "adopt", "active": false}
	plan, diags := p.Plan(typeName, config, nil)
	acctest.Expect(t, diags, "WARNING", "The plan adopts the forwarding rule to jane@example.org of the account", "The adoption changes:", "active to false")
	_, diags = p.ApplyPlan(t.Context(), typeName, config, nil, plan)
	p.NoErrors(diags)
	assert.Check(t, slices.Contains(s.Sent(), api.SetForwardingActive.ID), "the apply sends %v", s.Sent())
}

// TestTargetDeleted checks that a rule with a target deleted outside Terraform causes a
// warning with the next step and no change, whatever the configured switch.
func TestTargetDeleted(t *testing.T) {
	t.Parallel()
	for name, active := range map[string]any{"unset": nil, "on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{})
			d := s.Domain(t, "example.com")
			m := s.Mailbox(t, d.ID, "office")
			p := s.Protocol(t, "")
			config := attributes{"target_email": "office@example.com"}
			if active != nil {
				config["active"] = active
			}
			made, diags := p.Apply(t.Context(), typeName, config, nil)
			p.NoErrors(diags)
			assert.NilError(t, s.Client.Mailboxes.Delete(t.Context(), m.ID))
			read, diags := p.Read(typeName, made)
			p.NoErrors(diags)
			assert.Check(t, read.Text("verification_state") == vocab.VerificationPending && !isActive(read), "it reads as %s", read.State)
			plan, diags := p.Plan(typeName, config, read)
			acctest.Expect(t, diags, `WARNING at AttributeName("target_email")`, "forwards no mail", "office@example.com", "mailhost_resend_forwarding_verification", "-replace")
			assert.Check(t, plan.State.Equal(read.State) && len(plan.Replace) == 0, "the plan is %s for %s", plan.State, read.State)
			s.Mailbox(t, d.ID, "office")
			_, diags = p.Invoke(resend, attributes{"forwarding_id": read.Text("id")})
			p.NoErrors(diags)
			again, diags := p.Read(typeName, read)
			p.NoErrors(diags)
			assert.Check(t, again.Text("verification_state") == vocab.VerificationInternal && isActive(again) != (active == false), "after a resend it reads as %s", again.State)
			plan, diags = p.Plan(typeName, config, again)
			assert.Check(t, len(diags) == 0 && plan.State.Equal(again.State), "then the plan is %s for %s: %s", plan.State, again.State, acctest.Render(diags))
		})
	}
}

// TestDomainOutOfSight checks that the domain is read only to compare a name with a UUID,
// and that the plan reports a failure of this read.
func TestDomainOutOfSight(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := (&acctest.Server{Server: s.Server, AccountID: s.AccountID, Token: s.LimitedToken(t, vocab.CapForwardingView, vocab.CapForwardingManage)}).Protocol(t, "")
	config := attributes{"target_email": "jane@example.org", "domain": "example.com"}
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	read, diags := p.Read(typeName, made)
	p.NoErrors(diags)
	for _, ref := range []string{"example.com", "Example.Com.", d.ID} {
		config["domain"] = ref
		plan, diags := p.Plan(typeName, config, read)
		assert.Check(t, len(diags) == 0 && plan.State.Equal(made.State) && len(plan.Replace) == 0, "%s plans %s, replacing %v: %s", ref, plan.State, plan.Replace, acctest.Render(diags))
	}

	imported, diags := p.Import(typeName, made.Text("id"), nil)
	p.NoErrors(diags)
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	assert.Check(t, imported.Text("domain") == d.ID, "the domain of the imported rule is %q", imported.Text("domain"))
	config["domain"] = "example.com"
	_, diags = p.Plan(typeName, config, imported)
	acctest.Expect(t, diags, "ERROR", "example.com", "domain.view")
}

// TestFailureKeepsWhatIsDone checks that the state contains the completed steps of a failed
// update, for example if another rule of the scope exists for the new target.
func TestFailureKeepsWhatIsDone(t *testing.T) {
	t.Parallel()
	for status, advice := range map[int]string{http.StatusConflict: "A scope has one rule for a target", http.StatusUnprocessableEntity: "Correct the value"} {
		s := acctest.NewServer(t, acctest.Options{})
		d := s.Domain(t, "example.com")
		s.Mailbox(t, d.ID, "office")
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPatch && !strings.HasSuffix(r.URL.Path, "/active") {
				acctest.Refuse(w, status, "body.target_email", "Value error, this target is refused")
				return
			}
			next.ServeHTTP(w, r)
		}))
		made, diags := p.Apply(t.Context(), typeName, attributes{"target_email": "office@example.com"}, nil)
		p.NoErrors(diags)
		half, diags := p.Apply(t.Context(), typeName, attributes{"target_email": "jane@example.org", "active": false}, made)
		acctest.Expect(t, diags, `AttributeName("target_email")`, "Can't change the forwarding rule to office@example.com of the account", "This target is refused.", advice)
		f := rules(t, s)[0]
		assert.Check(t, !f.Active && half.Text("updated_at") == f.UpdatedAt && half.Text("target_email") == "office@example.com", "the rule is %+v, the state %s", f, half.State)
	}
}

// TestSwitchUnsupported checks that an API that can't switch a rule off creates it with a
// warning, and that later plans are empty.
func TestSwitchUnsupported(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	config := attributes{"target_email": "jane@example.org", "active": false}
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("active")`, "no operation that switches a rule on or off", "as soon as the recipient has confirmed")
	read, diags := p.Read(typeName, made)
	p.NoErrors(diags)
	plan, _ := p.Plan(typeName, config, read)
	assert.Check(t, plan.State.Equal(made.State), "the second plan is %s", plan.State)
	confirm(t, s)
	p = s.Protocol(t, "") // a new process starts with an empty cache
	read, diags = p.Read(typeName, read)
	p.NoErrors(diags)
	_, diags = p.Apply(t.Context(), typeName, config, read)
	acctest.Expect(t, diags, `ERROR at AttributeName("active")`, "Can't switch the forwarding rule to jane@example.org of the account off", "still forwards mail")
}

// TestSwitchRefused refuses to switch a new rule off, which is then deleted again, and an adopted rule,
// which stays as it was. If the new one can't be deleted either, it is in the state.
func TestSwitchRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := attributes{"target_email": "jane@example.org", "active": false}
	refused := fault.Rule{Operation: api.SetForwardingActive.ID, Status: http.StatusForbidden}
	s.Fault(t, refused)
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	acctest.Expect(t, diags, "ERROR: Can't switch the forwarding rule to jane@example.org of the account off", "HTTP 403", "deleted again")
	assert.Check(t, o.Gone() && len(rules(t, s)) == 0, "the state is %s, and there are %v", o.State, rules(t, s))

	s.Fault(t, fault.Rule{Operation: api.DeleteForwarding.ID, Status: http.StatusForbidden})
	o, diags = p.Apply(t.Context(), typeName, config, nil)
	acctest.Expect(t, diags, "ERROR: Can't switch", "HTTP 403", "created with the id "+o.Text("id"), "can't be deleted again", "It will forward mail to jane@example.org", "terraform untaint")
	assert.Check(t, len(rules(t, s)) == 1 && rules(t, s)[0].ID == o.Text("id"), "the state is %s, and there are %v", o.State, rules(t, s))

	config["on_existing"] = "adopt"
	o, diags = p.Apply(t.Context(), typeName, config, nil)
	acctest.Expect(t, diags, "ERROR: Can't switch", "HTTP 403", "was not adopted", "Run apply again")
	assert.Check(t, o.Gone() && len(rules(t, s)) == 1, "the state is %s, and there are %v", o.State, rules(t, s))
	s.Faults.Clear()
	o, diags = p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	assert.Check(t, !o.Gone() && len(rules(t, s)) == 1, "the state is %s, and there are %v", o.State, rules(t, s))
}

// three creates a rule in each kind of scope: an active one for the domain, an inactive
// one for the workspace, and a pending one for the account.
func three(t *testing.T, s *acctest.Server) (domain *api.Domain, ofDomain, ofWorkspace, ofAccount *api.Forwarding) {
	t.Helper()
	domain = s.Domain(t, "bücher.com")
	s.Mailbox(t, domain.ID, "office")
	ofDomain = create(t, s, api.CreateForwardingBody{TargetEmail: "office@bücher.com", Domain: &domain.ID})
	ofWorkspace = create(t, s, api.CreateForwardingBody{TargetEmail: "office@bücher.com", WorkspaceID: &s.WorkspaceID})
	ofAccount = create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
	_, err := s.Client.SetForwardingActive(t.Context(), ofWorkspace.ID, false)
	assert.NilError(t, err)
	return domain, ofDomain, ofWorkspace, ofAccount
}

// TestListReadsDomainsOnce counts the requests for the names of the rules' domains.
func TestListReadsDomainsOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for i := range 3 {
		d := s.Domain(t, fmt.Sprintf("example%d.com", i))
		for j := range 4 {
			create(t, s, api.CreateForwardingBody{TargetEmail: fmt.Sprintf("jane%d@example.org", j), Domain: &d.ID})
		}
	}
	var requests atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/domains") {
			requests.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 100)
	p.NoErrors(diags)
	if len(listed) != 12 || listed[11].Text("domain") != "example2.com" || requests.Load() != 1 {
		t.Errorf("listed %d, the last of %s, with %d requests for domains; want 12 with 1", len(listed), listed[len(listed)-1].Text("domain"), requests.Load())
	}
	requests.Store(0)
	listed, diags = p.Query(typeName, nil, 100, false)
	p.NoErrors(diags)
	if len(listed) != 12 || listed[11].DisplayName != "jane3@example.org (domain)" || !listed[11].State.IsNull() || requests.Load() != 0 {
		t.Errorf("without the objects, listed %d, the last of them %v, with %d requests for domains", len(listed), listed[len(listed)-1], requests.Load())
	}
}

// TestGeneratedConfiguration plans the configuration that Terraform generates for an imported rule. It contains
// active, unless the rule is pending.
func TestGeneratedConfiguration(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		three(t, s)
		p := s.Protocol(t, "")
		imported := func(f api.Forwarding) *acctest.Object {
			o, diags := p.Import(typeName, f.ID, nil)
			p.NoErrors(diags)
			o, diags = p.Read(typeName, o)
			p.NoErrors(diags)
			return o
		}
		for _, f := range rules(t, s) {
			o := imported(f)
			config := p.AsConfig(typeName, o)
			isPending := f.VerificationState == vocab.VerificationPending
			assert.Check(t, (config["active"] == nil) == isPending, "%s: the configuration is %v", f.VerificationState, config)
			expectEmptyPlan(t, p, config, o)
			read, diags := p.Walk().Read(typeName, o)
			p.NoErrors(diags)
			assert.Check(t, !strings.Contains(read.State.String(), `"active":tftypes.Bool<null>`), "a second refresh reads %s", read.State)
			expectEmptyPlan(t, p, config, read)
			if !isPending {
				continue
			}

			// The switch of an imported pending rule is unknown: a value is stored, and nothing is sent.
			sent := len(s.Sent())
			for _, active := range []bool{true, false} {
				config["active"] = active
				o, diags := p.Apply(t.Context(), typeName, config, imported(f))
				p.NoErrors(diags)
				plan, diags := p.Walk().Plan(typeName, config, o)
				assert.Check(t, isActive(o) == active && plan.State.Equal(o.State), "active = %t plans %s for %s", active, plan.State, o.State)
				if active {
					expectWarnings(t, "on", diags)
				} else {
					expectWarnings(t, "off", diags, `AttributeName("active")|not switched off yet|generated configuration, remove it`)
				}
			}
			assert.Check(t, len(s.Sent()) == sent, "the applies send %v", s.Sent()[sent:])
		}
	})
}

const resend = "mailhost_resend_forwarding_verification"

// expectProgress fails the test unless each text is part of exactly one progress message.
func expectProgress(t *testing.T, progress []string, parts ...string) {
	t.Helper()
	assert.Check(t, slices.EqualFunc(progress, parts, strings.Contains), "the progress is %q, want %q", progress, parts)
}

func TestResend(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		f := create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
		invoke := func(parts ...string) {
			t.Helper()
			progress, diags := s.Protocol(t, "").Invoke(resend, attributes{"forwarding_id": strings.ToUpper(f.ID)})
			assert.Check(t, len(diags) == 0, "the diagnostics are %s", acctest.Render(diags))
			expectProgress(t, progress, parts...)
		}
		now := s.Clock.Now().Add(2 * hour).Truncate(hour).UTC()
		assert.NilError(t, s.Clock.Set(now))
		invoke("Sending a new verification message to jane@example.org; the state is pending", "has until "+now.Add(72*hour).Format("2006-01-02T15:"))
		s.Advance(100 * hour)
		invoke("the state is expired", "was sent a new message")
		if sent := s.Service.Outbox(); len(sent) != 2 || sent[1].To != "jane@example.org" {
			t.Errorf("the messages are %v, want two", sent) // the create's message was sent by another server
		}
		confirm(t, s)
		invoke("Nothing to send: jane@example.org has confirmed already")

		d := s.Domain(t, "example.com")
		s.Mailbox(t, d.ID, "office")
		f = create(t, s, api.CreateForwardingBody{TargetEmail: "office@example.com"})
		invoke("Nothing to send: office@example.com is an address of the account")
		f = create(t, s, api.CreateForwardingBody{TargetEmail: "joe@example.com"})
		s.Mailbox(t, d.ID, "joe")
		invoke("Sending", "Done: joe@example.com is an address of the account")
	})
}

func TestResendRefused(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		f := create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
		const missing = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
		p := s.Protocol(t, "")
		_, diags := p.Invoke(resend, attributes{"forwarding_id": "jane@example.org"})
		acctest.Expect(t, diags, `ERROR at AttributeName("forwarding_id")`, "forwarding_id must be a UUID")
		progress, diags := p.Invoke(resend, attributes{"forwarding_id": missing})
		acctest.Expect(t, diags, `ERROR at AttributeName("forwarding_id"): Can't send the verification message of the forwarding rule `+missing, "o such forwarding rule", "Check the id")
		expectProgress(t, progress)

		s.Fault(t, fault.Rule{Operation: api.UpdateForwarding.ID, Status: http.StatusTooManyRequests, RetryAfter: int(time.Hour.Seconds())})
		progress, diags = p.Invoke(resend, attributes{"forwarding_id": f.ID})
		acctest.Expect(t, diags, "ERROR", f.ID, "HTTP 429, request id ", "after that time")
		expectProgress(t, progress, "Sending")
	})
}
