package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// inDomain has a configuration of each resource that refers to a domain.
func inDomain(accountID, domain string) map[string]map[string]any {
	all := map[string]map[string]any{
		"mailhost_mailbox_set": {"mailboxes": map[string]any{"john": map[string]any{"first_name": "John", "last_name": "Doe"}}},
	}
	for typeName, config := range kinds(accountID) {
		all[typeName] = maps.Clone(config[0])
	}
	for _, other := range []string{"mailhost_domain", "mailhost_service_account", "mailhost_dedicated_ip"} {
		delete(all, other)
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
		for typeName, config := range inDomain(s.AccountID, "exmaple.com") {
			p := s.Protocol(t, "")
			_, diags := p.Plan(typeName, config, nil)
			p.NoErrors(diags)
			acctest.Expect(t, diags, missingDomain+"exmaple.com", "Did you mean example.com? ", "mailhost_domain.main.name")
			config["domain"] = "elsewhere.net"
			_, diags = p.Plan(typeName, config, nil)
			acctest.Expect(t, diags, missingDomain+"elsewhere.net")
			if strings.Contains(acctest.Render(diags), "Did you mean") {
				t.Errorf("%s: %s", typeName, acctest.Render(diags))
			}
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
	config := kinds(s.AccountID)["mailhost_domain"][0]
	p := s.Protocol(t, "").Together()
	_, diags := p.Plan("mailhost_domain", config, nil)
	p.NoErrors(diags)
	for typeName, config := range inDomain(s.AccountID, "acme.com") {
		_, diags := p.Plan(typeName, config, nil)
		expectNone(t, typeName+" in a planned domain", acctest.Render(diags))
	}
	mailbox := inDomain(s.AccountID, "acne.com")["mailhost_mailbox"]
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

// TestMissingDomainCost checks that a domain is looked up and reported once in a walk, and
// never for a plan that changes nothing.
func TestMissingDomainCost(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	mailbox := inDomain(s.AccountID, "example.com")["mailhost_mailbox"]
	o, diags := p.Apply(t.Context(), "mailhost_mailbox", mailbox, nil)
	p.NoErrors(diags)
	for domain, most := range map[string]int{"": 0, "example.com": 3, "exmaple.com": 5} {
		p.Together()
		s.Control.Journal.Clear()
		warnings := 0
		for i := range 20 {
			config, prior := mailbox, o
			if domain != "" {
				config, prior = maps.Clone(mailbox), nil
				config["domain"], config["local_part"] = domain, fmt.Sprintf("m%d", i)
			}
			_, diags := p.Plan("mailhost_mailbox", config, prior)
			warnings += strings.Count(acctest.Render(diags), missingDomain)
		}
		var requests []string
		for _, e := range s.Control.Journal.Entries(journal.Filter{}) {
			requests = append(requests, e.Operation)
		}
		if len(requests) > most || warnings != most/5 {
			t.Errorf("20 plans in %q: requests %v, %d warnings", domain, requests, warnings)
		}
	}

	// Nothing is said without an answer.
	url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/domains") {
			acctest.Refuse(w, http.StatusForbidden, "header", "lacks domain.view")
			return
		}
		next.ServeHTTP(w, r)
	})
	p = s.Protocol(t, url)
	mailbox["domain"] = "exmaple.com"
	_, diags = p.Plan("mailhost_mailbox", mailbox, nil)
	expectNone(t, "without domain.view", acctest.Render(diags))
}

func expectNone(t *testing.T, what, text string) {
	t.Helper()
	if strings.Contains(text, "does not have the domain") || strings.Contains(text, "ERROR") {
		t.Errorf("%s: %s", what, text)
	}
}
