package provider_test

import (
	"maps"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestPlanWithoutAccess plans a create of each resource with a credential, an account or a URL
// that is wrong: the plan fails, also if nothing of the state is refreshed.
func TestPlanWithoutAccess(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		other := acctest.NewServer(t, acctest.Options{})
		configs := withSet(t, s)
		with := func(accountID, token, base string) *acctest.Protocol {
			return (&acctest.Server{Server: s.Server, AccountID: accountID, Token: token}).Protocol(t, base)
		}
		cases := map[string]struct {
			p    *acctest.Protocol
			want string
		}{
			"no such token": {with(s.AccountID, "mhsa_nobody_x", ""), "MAILHOST_TOKEN"},
			"console":       {with(s.AccountID, s.Token, s.URL+"/console"), "Check base_url"},
		}
		if !s.PublishedOnly { // which can't tell a missing capability from another account
			cases["another account"] = struct {
				p    *acctest.Protocol
				want string
			}{with(other.AccountID, s.Token, ""), "MAILHOST_ACCOUNT_ID"}
		}
		for what, c := range cases {
			for name, k := range configs {
				_, diags := c.p.Plan(name, k.config, nil)
				if acctest.Expect(t, diags, "ERROR: Can't use the account ", c.want); len(diags) != 1 {
					t.Errorf("%s, %s: %s", what, name, acctest.Render(diags))
				}
			}
		}
		// A credential that may do little has access.
		limited := with(s.AccountID, s.LimitedToken(t, vocab.CapMailboxCreate), "")
		_, diags := limited.Plan("mailhost_mailbox", configs["mailhost_mailbox"].config, nil)
		limited.NoErrors(diags)
	})
}

// TestPlanKnowsWhatIsKnown checks the computed attributes in the plan of a create. Those of the
// account also bind a saved plan to it: core refuses an apply whose plan has other values.
func TestPlanKnowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	for name, k := range withSet(t, s) {
		known := merged(values{}, k.known)
		if hasAttribute(t, name, "domain_name") {
			known["domain_name"] = "example.com"
		}
		if hasAttribute(t, name, "account_id") {
			known["account_id"] = s.AccountID
		}
		plans := []struct{ config, known values }{{k.config, known}}
		if hasAttribute(t, name, "scope_id") {
			plans = []struct{ config, known values }{
				{k.config, with(known, "scope_type", vocab.ScopeAccount, "scope_id", s.AccountID)},
				{with(k.config, "domain", d.ID), with(known, "scope_type", vocab.ScopeDomain, "scope_id", d.ID)},
				{with(k.config, "workspace_id", s.WorkspaceID), with(known, "scope_type", vocab.ScopeWorkspace, "scope_id", s.WorkspaceID)},
			}
		}
		isKnown := definitions()[name].FieldByName("PlannedValues")
		assert.Check(t, isKnown.IsNil() || len(plans[0].known) > 0, "%s in kinds has no known, but its definition has PlannedValues", name)
		for _, c := range plans {
			p := s.Protocol(t, "")
			plan, diags := p.Plan(name, c.config, nil)
			p.NoErrors(diags)
			assert.Check(t, is.Equal(difference(c.known, plain(t, plan.State)), ""), "%s %v (-want +got): is a value missing in PlannedValues of its definition?", name, c.config)
		}
	}
}

// TestPlanTellsOfMoneyAndRights checks the warnings about what is paid for, about an owner, and
// about a token that stops working.
func TestPlanTellsOfMoneyAndRights(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	_, diags := p.Plan("mailhost_dedicated_ip", kinds(t, s)["mailhost_dedicated_ip"].config, nil)
	acctest.Expect(t, diags, "The plan claims and pays for a dedicated IP of the option Europe")

	_, diags = p.Plan("mailhost_service_account", map[string]any{"name": "ci"}, nil)
	acctest.Expect(t, diags, `The plan makes the service account "ci" an owner of the account`)
	_, diags = p.Plan("mailhost_service_account", map[string]any{"name": acctest.Unknown}, nil)
	acctest.Expect(t, diags, "The plan makes the service account an owner of the account")
	limited := (&acctest.Server{Server: s.Server, AccountID: s.AccountID, Token: s.LimitedToken(t, vocab.CapServiceAccountCreate)}).Protocol(t, "")
	if _, diags = limited.Plan("mailhost_service_account", map[string]any{"name": "ci"}, nil); strings.Contains(acctest.Render(diags), "an owner") {
		t.Errorf("not every service account is an owner: %s", acctest.Render(diags))
	}

	short := map[string]any{"name": "ops", "value": "hunter22"}
	made, diags := p.Apply(t.Context(), "mailhost_master_password", short, nil)
	p.NoErrors(diags)
	for _, c := range []struct {
		value string
		prior *acctest.Object
		want  bool
	}{{"hunter22", nil, true}, {"hunter22", made, false}, {"hunter23", made, true}, {"correct horse", nil, false}, {"correct horse", made, false}} {
		_, diags := p.Plan("mailhost_master_password", map[string]any{"name": "ops", "value": c.value}, c.prior)
		assert.Check(t, strings.Contains(acctest.Render(diags), `The secret of the master password "ops" is short`) == c.want, "%+v: %s", c, acctest.Render(diags))
	}

	ci, diags := p.Apply(t.Context(), "mailhost_service_account", map[string]any{"name": "ci", "rotation_triggers": map[string]any{"n": "1"}}, nil)
	p.NoErrors(diags)
	last4 := "ends in " + ci.Text("token_last4")
	_, diags = p.Plan("mailhost_service_account", map[string]any{"name": "cd"}, ci)
	acctest.Expect(t, diags, `The plan replaces the service account "ci"`, last4)
	_, diags = p.Plan("mailhost_service_account", nil, ci)
	acctest.Expect(t, diags, `The plan revokes the service account "ci"`, last4)
	if _, diags = p.Plan("mailhost_service_account", map[string]any{"name": "ci", "rotation_triggers": map[string]any{"n": "2"}}, ci); len(diags) > 0 {
		t.Errorf("a rotation is meant: %s", acctest.Render(diags))
	}
}

// TestMistakesInWords checks errors that the framework calls errors of the provider.
func TestMistakesInWords(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	configs := withSet(t, s)
	for _, c := range []struct {
		resource, want string
		set            map[string]any
	}{
		{"mailhost_dns_record", "ttl has 60.5 where a whole number", map[string]any{"ttl": 60.5}},
		{"mailhost_mailbox_set", "max_deletions has 1.5 where", map[string]any{"max_deletions": 1.5}},
		{"mailhost_dns_zone", "records has 60.5 where", map[string]any{"records": map[string]any{"web A": map[string]any{"values": []string{"192.0.2.1"}, "ttl": 60.5}}}},
		{"mailhost_mailbox_set", `retired["x"]: must be "delete" or "keep", and not "Delete"`, map[string]any{"retired": map[string]any{"x": "Delete"}}},
		{"mailhost_mailbox", `on_existing must be one of adopt, error, got "take"`, map[string]any{"on_existing": "take"}},
		{"mailhost_mailbox", "last_name is missing", map[string]any{"last_name": nil}},
		{"mailhost_mailbox", "primary_email can't be set", map[string]any{"primary_email": "jane@example.com"}},
	} {
		config := merged(configs[c.resource].config, c.set)
		diags := p.Validate(c.resource, config)
		if acctest.Expect(t, diags, "ERROR", c.want); len(diags) != 1 {
			t.Errorf("%s: %s", c.resource, acctest.Render(diags))
		}
	}
}

// inDomain has a configuration of each resource that refers to a domain.
func inDomain(t *testing.T, s *acctest.Server, domain string) map[string]values {
	t.Helper()
	all := map[string]values{}
	for typeName, k := range withSet(t, s) {
		if hasAttribute(t, typeName, "domain") {
			all[typeName] = with(k.config, "domain", domain)
		}
	}
	return all
}

const missingDomain = `WARNING at AttributeName("domain"): The account does not have the domain `

// TestMissingDomain plans each resource in a misspelled domain.
func TestMissingDomain(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "other.org")
		for typeName, config := range inDomain(t, s, "exmaple.com") {
			p := s.Protocol(t, "")
			_, diags := p.Plan(typeName, config, nil)
			p.NoErrors(diags)
			acctest.Expect(t, diags, missingDomain+"exmaple.com", "Did you mean example.com? ", "mailhost_domain.main.name")
			config["domain"] = "elsewhere.net"
			_, diags = p.Plan(typeName, config, nil)
			acctest.Expect(t, diags, missingDomain+"elsewhere.net")
			assert.Check(t, !strings.Contains(acctest.Render(diags), "Did you mean"), "%s: %s", typeName, acctest.Render(diags))
			config["domain"] = "EXAMPLE.com."
			_, diags = p.Plan(typeName, config, nil)
			expectNone(t, typeName+" in an existing domain", acctest.Render(diags))
			o, diags := p.Apply(t.Context(), typeName, config, nil)
			p.NoErrors(diags)
			if typeName == "mailhost_mailbox_set" {
				config["max_deletions"] = 1
			}
			config["domain"] = "exmaple.com"
			_, diags = p.Plan(typeName, config, o)
			acctest.Expect(t, diags, missingDomain+"exmaple.com")
		}
	})
}

// TestMissingDomainOfThePlan plans resources in domains that the same plan buys, and
// renames.
func TestMissingDomainOfThePlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	config := kinds(t, s)["mailhost_domain"].config
	p := s.Protocol(t, "").Together()
	_, diags := p.Plan("mailhost_domain", config, nil)
	p.NoErrors(diags)
	for typeName, config := range inDomain(t, s, "acme.com") {
		_, diags := p.Plan(typeName, config, nil)
		expectNone(t, typeName+" in a planned domain", acctest.Render(diags))
	}
	mailbox := inDomain(t, s, "acne.com")["mailhost_mailbox"]
	_, diags = p.Plan("mailhost_mailbox", mailbox, nil)
	acctest.Expect(t, diags, missingDomain+"acne.com", "Did you mean acme.com? ")

	o, diags := p.Apply(t.Context(), "mailhost_domain", config, nil)
	p.NoErrors(diags)
	renamed := maps.Clone(config)
	renamed["name"] = "acme.net"
	p.Together()
	_, diags = p.PlanReplacement("mailhost_domain", renamed, o)
	p.NoErrors(diags)
	mailbox["domain"] = "acme.net"
	_, diags = p.Plan("mailhost_mailbox", mailbox, nil)
	expectNone(t, "in a renamed domain", acctest.Render(diags))

	p = s.Protocol(t, "").TestFile() // its walks can't be distinguished
	mailbox["domain"] = "acne.com"
	_, diags = p.Plan("mailhost_mailbox", mailbox, nil)
	expectNone(t, "terraform test", acctest.Render(diags))
}

func expectNone(t *testing.T, what, text string) {
	t.Helper()
	assert.Check(t, !strings.Contains(text, "does not have the domain") && !strings.Contains(text, "ERROR"), "%s: %s", what, text)
}
