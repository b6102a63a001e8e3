package forwarding_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// with returns a copy of a configuration with other values. A nil value removes its attribute.
func with(config attributes, changes attributes) attributes {
	all := attributes{}
	for _, from := range []attributes{config, changes} {
		for name, value := range from {
			if all[name] = value; value == nil {
				delete(all, name)
			}
		}
	}
	return all
}

// expectWarnings fails the test unless the diagnostics are warnings that contain the texts, in this order. A text has
// parts, which are separated by |.
func expectWarnings(t *testing.T, name string, diags []*tfprotov6.Diagnostic, texts ...string) {
	t.Helper()
	if !assert.Check(t, len(diags) == len(texts), "%s: want %d warnings:\n%s", name, len(texts), acctest.Render(diags)) {
		return
	}
	for i, text := range texts {
		one := acctest.Render(diags[i : i+1])
		for _, part := range append([]string{"WARNING"}, strings.Split(text, "|")...) {
			assert.Check(t, strings.Contains(one, part), "%s: %q is missing in %s", name, part, one)
		}
	}
}

// TestLosses plans each change of a rule that concerns where mail goes.
func TestLosses(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Domain(t, "example.net")
	s.Mailbox(t, "example.com", "office")
	p := s.Protocol(t, "")
	at := func(target string) attributes { return attributes{"domain": "example.com", "target_email": target} }
	made := func(config attributes) *acctest.Object {
		t.Helper()
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		if target := config["target_email"].(string); strings.HasSuffix(target, "@confirmed.org") {
			confirm(t, s)
			o, diags = p.Walk().Read(typeName, o)
			p.NoErrors(diags)
		}
		return o
	}
	confirmed, own, off := at("jane@confirmed.org"), at("office@example.com"), with(at("joe@confirmed.org"), attributes{"active": false})
	pending := attributes{"target_email": "jane@example.org"}
	rules := map[string]*acctest.Object{"confirmed": made(confirmed), "own": made(own), "off": made(off), "pending": made(pending)}

	for _, tt := range []struct {
		name   string
		prior  string
		config attributes
		want   []string
	}{
		{"to another target", "confirmed", at("joe@example.org"), []string{
			`AttributeName("target_email")|The plan forwards all mail of the domain example.com to joe@example.org instead of jane@confirmed.org|no longer forwarded to jane@confirmed.org|has to confirm first|Concerns: reach`}},
		{"to an unknown target", "confirmed", with(confirmed, attributes{"target_email": acctest.Unknown}), []string{"to an address that is known after the apply instead of jane@confirmed.org"}},
		{"back to an own target", "confirmed", at("joe@example.com"), []string{"to joe@example.com instead of jane@confirmed.org|an address of an own domain"}},
		{"from a pending target", "pending", attributes{"target_email": "joe@example.org"}, []string{"to joe@example.org instead of jane@example.org|forwards no mail now, because jane@example.org has not confirmed"}},
		{"off", "confirmed", with(confirmed, attributes{"active": false}), []string{`AttributeName("active")|The plan switches off the forwarding rule to jane@confirmed.org of domain example.com|no longer forwarded|set active = true`}},
		{"off, to an own target", "own", with(own, attributes{"active": false}), []string{"The plan switches off"}},
		{"off, which was pending", "pending", with(pending, attributes{"active": false}), nil},
		{"off, to another target", "confirmed", with(at("joe@example.org"), attributes{"active": false}), []string{"The plan switches off the forwarding rule to jane@confirmed.org"}},
		{"off, then left out", "off", with(off, attributes{"active": nil}), nil},
		{"on again", "off", with(off, attributes{"active": true}), []string{"The plan switches on the forwarding rule to joe@confirmed.org of domain example.com|All mail of the domain example.com is forwarded"}},
		{"off, to a third target", "off", with(off, attributes{"target_email": "jim@example.org"}), nil},
		{"destroyed", "confirmed", nil, []string{"The plan deletes the forwarding rule to jane@confirmed.org of domain example.com|no longer forwarded to jane@confirmed.org|Concerns: reach"}},
		{"destroyed, which was pending", "pending", nil, []string{"The plan deletes the forwarding rule to jane@example.org of the account|forwards no mail now, because jane@example.org has not confirmed"}},
		{"destroyed, which was off", "off", nil, []string{"The plan deletes|forwards no mail now, because it is switched off"}},
		{"replaced", "confirmed", with(confirmed, attributes{"domain": "example.net"}), []string{
			"The plan replaces the forwarding rule to jane@confirmed.org of domain example.com|confirm again|no longer forwarded to jane@confirmed.org",
			"The plan forwards all mail of the domain example.net to jane@confirmed.org|has to confirm first"}},
		{"replaced, to an own target", "own", with(own, attributes{"domain": nil}), []string{"The plan replaces the forwarding rule to office@example.com of domain example.com"}},
		{"unchanged", "confirmed", confirmed, nil},
		{"unchanged, which is pending", "pending", pending, nil},
		{"new", "", at("joe@example.org"), []string{"The plan forwards all mail of the domain example.com to joe@example.org|has to confirm first"}},
		{"new, of the account", "", attributes{"target_email": "joe@example.org"}, []string{"The plan forwards all mail of the account to joe@example.org"}},
		{"new, and off", "", with(at("joe@example.org"), attributes{"active": false}), nil},
		{"new, to a mailbox", "", attributes{"target_email": "office@example.com"}, nil},
		{"new, to an own domain", "", attributes{"target_email": "joe@EXAMPLE.net"}, nil},
		{"new, to its domain", "", attributes{"domain": "shop.org", "target_email": "joe@shop.org"}, []string{"does not have the domain shop.org"}},
		{"new, to an unknown target", "", with(confirmed, attributes{"target_email": acctest.Unknown}), []string{"to an address that is known after the apply|unless it is an address of the account"}},
		{"adopted", "", with(confirmed, attributes{"on_existing": "adopt"}), []string{"The plan adopts the forwarding rule to jane@confirmed.org"}},
		{"adopted, and off", "", with(confirmed, attributes{"on_existing": "adopt", "active": false}), []string{"The plan switches off the forwarding rule to jane@confirmed.org of domain example.com|no longer forwarded", "The plan adopts"}},
		{"adopted, and on", "", with(off, attributes{"on_existing": "adopt", "active": true}), []string{"The plan switches on the forwarding rule to joe@confirmed.org of domain example.com", "The plan adopts"}},
	} {
		_, diags := s.Protocol(t, "").Plan(typeName, tt.config, rules[tt.prior])
		expectWarnings(t, tt.name, diags, tt.want...)
	}

	// A domain that the same plan creates.
	p.Together()
	_, diags := p.Plan("mailhost_domain", attributes{"name": "shop.org", "contact_info": contact}, nil)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, attributes{"target_email": "joe@shop.org"}, nil)
	expectWarnings(t, "to a new domain", diags)
}

// TestDeadRules plans rules that forward no mail until somebody acts: each plan says so, with or without a refresh.
func TestDeadRules(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		p := s.Protocol(t, "")
		objects := map[string]*acctest.Object{}
		made := func(targets ...string) {
			for _, target := range targets {
				o, diags := p.Apply(t.Context(), typeName, attributes{"target_email": target}, nil)
				p.NoErrors(diags)
				objects[target] = o
			}
		}
		made("expired@example.org")
		s.Advance(80 * time.Hour)
		made("joe@example.com", "missing@example.com", "waits@example.org")
		s.Mailbox(t, "example.com", "joe")

		for range 2 {
			for _, refresh := range []bool{true, false} {
				p := s.Protocol(t, "").Together()
				if refresh {
					for target, o := range objects {
						var diags []*tfprotov6.Diagnostic
						objects[target], diags = p.Read(typeName, o)
						p.NoErrors(diags)
					}
				}
				for target, want := range map[string][]string{
					"joe@example.com":     {`AttributeName("target_email"): The forwarding rule to joe@example.com of the account forwards no mail|is an address of the account|mailhost_resend_forwarding_verification|-replace|at once`},
					"missing@example.com": {"The forwarding rule to missing@example.com of the account forwards no mail|No mailbox has the address|Create the mailbox|change target_email"},
					"expired@example.org": {"The forwarding rule to expired@example.org of the account forwards no mail|expired|mailhost_resend_forwarding_verification|-replace"},
					"waits@example.org":   nil,
				} {
					plan, diags := p.Plan(typeName, attributes{"target_email": target}, objects[target])
					expectWarnings(t, target, diags, want...)
					assert.Check(t, plan.State.Equal(objects[target].State), "the plan is %s for %s", plan.State, objects[target].State)
				}
			}
		}

		// The advice works. A state that is older than that has no warning.
		_, diags := p.Invoke(resend, attributes{"forwarding_id": objects["joe@example.com"].Text("id")})
		p.NoErrors(diags)
		_, diags = s.Protocol(t, "").Plan(typeName, attributes{"target_email": "joe@example.com"}, objects["joe@example.com"])
		expectWarnings(t, "after the action", diags)
	})
}

// TestDailyPlan counts the requests of a plan for rules that need no lookup.
func TestDailyPlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Mailbox(t, "example.com", "office")
	p := s.Protocol(t, "")
	configs := []attributes{{"target_email": "office@example.com"}, {"target_email": "jane@example.org"}}
	var objects []*acctest.Object
	for _, config := range configs {
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		objects = append(objects, o)
	}
	confirm(t, s)
	p.Together()
	for i, o := range objects {
		var diags []*tfprotov6.Diagnostic
		objects[i], diags = p.Read(typeName, o)
		p.NoErrors(diags)
	}
	before := len(s.Journal.Entries(journal.Filter{}))
	for i, o := range objects {
		_, diags := p.Plan(typeName, configs[i], o)
		assert.Check(t, len(diags) == 0, "%s", acctest.Render(diags))
	}
	requests := s.Journal.Entries(journal.Filter{})[before:]
	assert.Check(t, len(requests) == 0, "the plan sends %v", requests)
}

// TestTakenTargets plans changes of targets that an apply can't make for sure.
func TestTakenTargets(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	at := func(target string) attributes { return attributes{"domain": d.ID, "target_email": target} }
	var jane, joe *acctest.Object
	for target, o := range map[string]**acctest.Object{"jane@example.org": &jane, "joe@example.org": &joe} {
		var diags []*tfprotov6.Diagnostic
		*o, diags = p.Apply(t.Context(), typeName, at(target), nil)
		p.NoErrors(diags)
	}
	create(t, s, api.CreateForwardingBody{TargetEmail: "outside@example.org", Domain: &d.ID})
	create(t, s, api.CreateForwardingBody{TargetEmail: "free@example.org"}) // of the account
	type change struct {
		config  attributes
		prior   *acctest.Object
		refused string
	}
	for name, changes := range map[string][]change{
		"exchanged":                 {{at("JOE@example.org"), jane, "jane@example.org of domain " + d.Name + " can't forward to joe@example.org"}, {at("jane@example.org"), joe, "joe@example.org of domain " + d.Name + " can't forward to jane@example.org"}},
		"in a chain":                {{at("joe@example.org"), jane, "can't forward to joe@example.org"}, {at("free@example.org"), joe, ""}},
		"of a rule that stays":      {{at("joe@example.org"), jane, "can't forward to joe@example.org"}, {at("joe@example.org"), joe, ""}},
		"of a rule that is deleted": {{at("joe@example.org"), jane, "can't forward to joe@example.org"}, {nil, joe, ""}},
		"of a rule without a state": {{at("outside@example.org"), jane, "can't forward to outside@example.org"}},
		"free in this scope":        {{at("free@example.org"), jane, ""}},
		"in another spelling":       {{at("Jane@Example.ORG"), jane, ""}},
	} {
		for _, order := range []int{1, -1} {
			p.Together()
			for i := range changes {
				c := changes[(len(changes)+i*order)%len(changes)]
				_, diags := p.Plan(typeName, c.config, c.prior)
				if c.refused == "" {
					p.NoErrors(diags)
					continue
				}
				acctest.Expect(t, diags, `ERROR at AttributeName("target_email"): The forwarding rule to `, c.refused, "apply that first", "terraform state mv")
				assert.Check(t, acctest.Errors(diags) == 1, "%s: %s", name, acctest.Render(diags))
			}
		}
	}

	// The advice works.
	_, diags := p.Walk().Plan(typeName, at("joe@example.org"), joe)
	expectWarnings(t, "exchanged in the state", diags)
	o, diags := p.Apply(t.Context(), typeName, at("third@example.org"), joe)
	p.NoErrors(diags)
	assert.Check(t, o.Text("target_email") == "third@example.org")
	_, diags = p.Apply(t.Context(), typeName, at("joe@example.org"), jane)
	p.NoErrors(diags)
}
