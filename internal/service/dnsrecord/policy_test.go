package dnsrecord_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const policy = "v=spf1 include:_spf.example.net -all"

func txt(name, value any) map[string]any {
	return map[string]any{"domain": "example.com", "name": name, "type": "TXT", "value": value}
}

func TestSecondPolicy(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	create(t, s, "example.com", "news", "TXT", policy, "")
	create(t, s, "example.com", "site", "TXT", "v=spf10 is something else", "")
	create(t, s, "example.com", "_dmarc.site", "TXT", "v=DMARC1; p=none", "")
	p := s.Protocol(t, "")
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"at the apex":       {txt("@", `"V=SPF1 " "-all"`), []string{"WARNING", "changes the SPF of example.com"}}, // it replaces the system-managed one
		"absolute":          {txt("Example.com", "v=spf1"), []string{"WARNING", "changes the SPF of example.com"}},
		"beside another":    {txt("news.example.com.", "v=spf1 -all"), []string{`ERROR at AttributeName("value")`, "A second SPF record at news of example.com", policy, "permerror", "Put all into one record"}},
		"a DMARC":           {txt("_dmarc", "v=DMARC1; p=reject"), []string{"WARNING", "changes the DMARC of example.com"}},
		"a second DMARC":    {txt("_dmarc.site", "v=DMARC1; p=reject"), []string{`ERROR at AttributeName("value")`, "A second DMARC record at _dmarc.site of example.com", "RFC 9989"}},
		"a DMARC elsewhere": {txt("_dmarc.news", "v=DMARC1; p=reject"), nil},
		"another kind":      {txt("_dmarc.site", "v=TLSRPTv1; rua=mailto:a@example.com"), nil},
		"the same":          {txt("news", `"`+policy+`"`), []string{"exists already", "import {"}},
		"elsewhere":         {txt("other", policy), nil},
		"no other policy":   {txt("site", policy), nil},
		"no policy":         {txt("@", "v=spf10"), nil},
		"unknown value":     {txt("@", acctest.Unknown), nil},
		"unknown name":      {txt(acctest.Unknown, policy), nil},
		"of no such domain": {map[string]any{"domain": "example.net", "name": "@", "type": "TXT", "value": policy}, []string{"WARNING", "does not have the domain example.net"}},
	} {
		_, diags := p.Plan(typeName, c.config, nil)
		assert.Check(t, c.want != nil || len(diags) == 0, "%s: %s", name, acctest.Render(diags))
		assert.Check(t, len(c.want) == 0 || (c.want[0] == "WARNING") == (acctest.Errors(diags) == 0), "%s: %s", name, acctest.Render(diags))
		acctest.Expect(t, diags, c.want...)
	}
}

// TestSecondPolicyLater changes a record into a second policy, and a policy into another
// policy. After a refresh, the same plan may delete the record with the existing policy.
func TestSecondPolicyLater(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	text, diags := p.Apply(t.Context(), typeName, txt("news", "nothing"), nil)
	p.NoErrors(diags)
	own, diags := p.Apply(t.Context(), typeName, txt("news", policy), nil)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, txt("news", "v=spf1 -all"), text)
	acctest.Expect(t, diags, `ERROR at AttributeName("value")`, "A second SPF record")
	for i, value := range []string{policy, "v=spf1 -all"} {
		_, diags := p.Plan(typeName, txt("news", value), own)
		assert.Check(t, len(diags) == i && strings.Count(acctest.Render(diags), "changes the SPF of news.example.com") == i, acctest.Render(diags))
	}
	// In another domain it is a new record, and the plan of its create reports the policy.
	s.Domain(t, "example.org")
	create(t, s, "example.org", "news", "TXT", policy, "")
	elsewhere := txt("news", "v=spf1 -all")
	elsewhere["domain"] = "example.org"
	plan, diags := p.Walk().Plan(typeName, elsewhere, text)
	acctest.Expect(t, diags, "WARNING: The plan replaces the TXT record news of example.com", "The plan changes the SPF of news.example.org")
	assert.Check(t, len(diags) == 2 && len(plan.Replace) > 0, acctest.Render(diags))
	p.Together() // one provider process refreshes and plans
	_, diags = p.Read(typeName, own)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, txt("news", "v=spf1 -all"), text)
	acctest.Expect(t, diags, `WARNING at AttributeName("value")`, "A second SPF record", "moved block")
}

// TestOwnMailRecords checks that a second plan is empty after records that replace the
// system-managed ones are applied, changed or removed.
func TestOwnMailRecords(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	mx := map[string]any{"domain": "example.com", "name": "@", "type": "MX", "value": "mx1.mailhost.example", "priority": 10}
	for _, config := range []map[string]any{txt("@", policy), txt("_dmarc", "v=DMARC1; p=reject"), mx, txt("@", "v=spf1 include:_spf.mailhost.example ~all")} {
		state, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		state, diags = p.Read(typeName, state)
		p.NoErrors(diags)
		planned, diags := p.Plan(typeName, config, state)
		assert.Check(t, len(diags) == 0 && planned.State.Equal(state.State), "%v: the second plan is not empty: %s", config, acctest.Render(diags))
		if _, diags := p.Apply(t.Context(), typeName, nil, state); len(diags) > 0 {
			t.Error(acctest.Render(diags))
		}
	}
}
