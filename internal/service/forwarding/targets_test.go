package forwarding_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// contact is a valid contact_info.
var contact = attributes{
	"first_name": "Zoë", "last_name": "Müller", "organization": "Example GmbH", "email": "hostmaster@example.com", "phone": "+493023125000",
	"address_1": "Straße 1", "zip": "10115", "city": "Berlin", "state": "Berlin", "country": "DE",
}

// mailboxOf is a resource that creates the mailbox joe@example.com.
var mailboxOf = map[string]attributes{
	"mailhost_mailbox":     {"domain": "example.com", "local_part": "Joe", "first_name": "Joe", "last_name": "Roe"},
	"mailhost_mailbox_set": {"domain": "example.com", "mailboxes": attributes{"Joe": attributes{"first_name": "Joe", "last_name": "Roe"}}},
}

// TestTargetOfSameApply creates or changes a rule in the apply that creates the mailbox of its target. Whichever
// the API does first, the rule is internal, and the plan after the apply is empty.
func TestTargetOfSameApply(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		other := s.Mailbox(t, "example.com", "other")
		for typeName, mailbox := range mailboxOf {
			for _, order := range []string{"mailbox", "rule", "rule, with its response after the mailbox"} {
				for _, how := range []string{"created", "created and off", "changed"} {
					if s.PublishedOnly && how == "created and off" {
						continue // the published operations can't switch a rule off
					}
					t.Run(fmt.Sprintf("%s/%s first/%s", typeName, order, how), func(t *testing.T) {
						targetOfSameApply(t, s, typeName, mailbox, order, how)
					})
					for _, f := range rules(t, s) {
						assert.NilError(t, s.Client.Forwarding.Delete(t.Context(), f.ID))
					}
					for m, err := range s.Client.ListMailboxes(t.Context(), api.ListMailboxesRequest{}) {
						if assert.NilError(t, err); m.ID != other.ID {
							assert.NilError(t, s.Client.Mailboxes.Delete(t.Context(), m.ID))
						}
					}
				}
			}
		}
	})
}

func targetOfSameApply(t *testing.T, s *acctest.Server, mailboxType string, mailbox attributes, order, how string) {
	ruleSent, ruleDone, mailboxDone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	isApply := false
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !isApply || r.Method == http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		if strings.Contains(r.URL.Path, "/mailboxes") {
			switch order {
			case "rule":
				<-ruleDone
			case "rule, with its response after the mailbox":
				<-ruleSent
			}
			next.ServeHTTP(w, r)
			return
		}
		if order == "mailbox" {
			<-mailboxDone
		}
		response := httptest.NewRecorder()
		next.ServeHTTP(response, r)
		once.Do(func() {
			close(ruleSent)
			if order == "rule, with its response after the mailbox" {
				<-mailboxDone
			}
		})
		maps.Copy(w.Header(), response.Header())
		w.WriteHeader(response.Code)
		_, _ = response.Body.WriteTo(w)
	}))
	isOn := how != "created and off"
	config := attributes{"target_email": "JOE@example.com", "active": isOn}
	var prior *acctest.Object
	if how == "changed" {
		var diags []*tfprotov6.Diagnostic
		prior, diags = p.Apply(t.Context(), typeName, attributes{"target_email": "jane@example.org", "active": true}, nil)
		p.NoErrors(diags)
	}
	p.Together()
	plan, diags := p.Plan(typeName, config, prior)
	p.NoErrors(diags)
	planned, diags := p.Plan(mailboxType, mailbox, nil)
	p.NoErrors(diags)
	p.Together()
	isApply = true
	sent := len(s.Sent())
	var wg sync.WaitGroup
	var rule *acctest.Object
	wg.Go(func() {
		defer close(ruleDone)
		var diags []*tfprotov6.Diagnostic
		rule, diags = p.ApplyPlan(t.Context(), typeName, config, prior, plan)
		assert.Check(t, len(diags) == 0, "the rule: %s", acctest.Render(diags))
	})
	wg.Go(func() {
		defer close(mailboxDone)
		_, diags := p.ApplyPlan(t.Context(), mailboxType, mailbox, nil, planned)
		assert.Check(t, len(diags) == 0, "the mailbox: %s", acctest.Render(diags))
	})
	wg.Wait()
	isApply = false
	want := 2
	if order != "mailbox" {
		want++
	}
	if !isOn {
		want++
	}
	assert.Check(t, len(s.Sent())-sent == want, "the apply sends %v", s.Sent()[sent:])
	f := rules(t, s)[0]
	assert.Check(t, f.VerificationState == vocab.VerificationInternal && f.Active == isOn, "the rule is %+v", f)
	expectEmptyPlan(t, p, config, rule)
	read, diags := p.Walk().Read(typeName, rule)
	p.NoErrors(diags)
	assert.Check(t, read.Text("verification_state") == vocab.VerificationInternal && isActive(read) == isOn, "it reads as %s", read.State)
	expectEmptyPlan(t, p, config, read)
}

// expectEmptyPlan fails the test unless a plan in a new walk changes nothing and has no diagnostics.
func expectEmptyPlan(t *testing.T, p *acctest.Protocol, config attributes, o *acctest.Object) {
	t.Helper()
	plan, diags := p.Walk().Plan(typeName, config, o)
	assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State) && len(plan.Replace) == 0, "the plan is %s for %s: %s", plan.State, o.State, acctest.Render(diags))
}

// TestTargetsOfSameApply applies many rules with the mailboxes of their targets at once.
func TestTargetsOfSameApply(t *testing.T) {
	t.Parallel()
	const n = 20
	for name, protocol := range map[string]func(*testing.T) *acctest.Protocol{
		"remote":   func(t *testing.T) *acctest.Protocol { return acctest.NewServer(t, acctest.Options{}).Protocol(t, "") },
		"embedded": func(t *testing.T) *acctest.Protocol { return acctest.Embedded(t, "", t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := protocol(t)
			domain := attributes{"name": "example.com", "contact_info": contact}
			_, diags := p.Apply(t.Context(), "mailhost_domain", domain, nil)
			p.NoErrors(diags)
			type call struct {
				typeName string
				config   attributes
				plan     *acctest.Object
			}
			entries := attributes{}
			var calls []*call
			for i := range n {
				names := attributes{"first_name": "Joe", "last_name": "Roe"}
				calls = append(calls, &call{typeName: typeName, config: attributes{"target_email": fmt.Sprintf("joe%d@example.com", i)}})
				if local := fmt.Sprintf("joe%d", i); i%2 == 0 {
					entries[local] = names
				} else {
					calls = append(calls, &call{typeName: "mailhost_mailbox", config: attributes{"domain": "example.com", "local_part": local, "first_name": "Joe", "last_name": "Roe"}})
				}
			}
			calls = append(calls, &call{typeName: "mailhost_mailbox_set", config: attributes{"domain": "example.com", "mailboxes": entries}})
			p.Together()
			for _, c := range calls {
				c.plan, diags = p.Plan(c.typeName, c.config, nil)
				p.NoErrors(diags)
			}
			p.Together()
			var wg sync.WaitGroup
			for _, c := range calls {
				wg.Go(func() {
					var diags []*tfprotov6.Diagnostic
					c.plan, diags = p.ApplyPlan(t.Context(), c.typeName, c.config, nil, c.plan)
					assert.Check(t, len(diags) == 0, "%s", acctest.Render(diags))
				})
			}
			wg.Wait()
			p.Walk()
			for _, c := range calls {
				if c.typeName == typeName {
					read, diags := p.Read(typeName, c.plan)
					p.NoErrors(diags)
					assert.Check(t, read.Text("verification_state") == vocab.VerificationInternal && isActive(read), "it reads as %s", read.State)
				}
			}
		})
	}
}

// TestTargetNotConfirmed checks that a mailbox is created without an error if the target of a rule can't be sent
// again: a warning explains the next step.
func TestTargetNotConfirmed(t *testing.T) {
	t.Parallel()
	for mailboxType, mailbox := range mailboxOf {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		p := s.Protocol(t, "").Together()
		config := attributes{"target_email": "joe@example.com"}
		plan, diags := p.Plan(typeName, config, nil)
		p.NoErrors(diags)
		planned, diags := p.Plan(mailboxType, mailbox, nil)
		p.NoErrors(diags)
		p.Together()
		s.Fault(t, fault.Rule{Operation: api.UpdateForwarding.ID, Status: http.StatusForbidden})
		rule, diags := p.ApplyPlan(t.Context(), typeName, config, nil, plan)
		p.NoErrors(diags)
		_, diags = p.ApplyPlan(t.Context(), mailboxType, mailbox, nil, planned)
		acctest.Expect(t, diags, "WARNING: The forwarding rule to joe@example.com with the id "+rule.Text("id")+" forwards no mail", "HTTP 403", "mailhost_resend_forwarding_verification", "-replace")
		p.NoErrors(diags)
	}
}
