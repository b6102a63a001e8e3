package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// inDomain has a configuration of each resource that refers to a domain.
func inDomain(t *testing.T, accountID, domain string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{
		"mailhost_mailbox_set": {"mailboxes": map[string]any{"john": map[string]any{"first_name": "John", "last_name": "Doe"}}},
	}
	for typeName, k := range kinds(accountID) {
		all[typeName] = k.config
	}
	for typeName, s := range schemas(t).ResourceSchemas {
		if !slices.ContainsFunc(s.Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == "domain" }) {
			delete(all, typeName)
		}
	}
	for _, config := range all {
		config["domain"] = domain
	}
	return all
}

const missingDomain = `WARNING at AttributeName("domain"): The account does not have the domain `

// TestMissingDomain plans each resource in a misspelled domain.
func TestMissingDomain(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "other.org")
		s.Domain(t, "example.com")
		for typeName, config := range inDomain(t, s.AccountID, "exmaple.com") {
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
	config := kinds(s.AccountID)["mailhost_domain"].config
	p := s.Protocol(t, "").Together()
	_, diags := p.Plan("mailhost_domain", config, nil)
	p.NoErrors(diags)
	for typeName, config := range inDomain(t, s.AccountID, "acme.com") {
		_, diags := p.Plan(typeName, config, nil)
		expectNone(t, typeName+" in a planned domain", acctest.Render(diags))
	}
	mailbox := inDomain(t, s.AccountID, "acne.com")["mailhost_mailbox"]
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
