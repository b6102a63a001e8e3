package domain_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)

	plan, diags := p.Plan(domainType, attributes("example.net", nil), o)
	acctest.Expect(t, diags, "WARNING: The plan replaces the domain example.com", "buys or adopts another domain", "undo the change")
	assert.Check(t, len(plan.Replace) == 1, "replaced because of %v", plan.Replace)
	_, diags = p.Plan(domainType, attributes("example.com", map[string]any{"contact_info": contactAttributes(map[string]any{"city": "Köln"})}), o)
	acctest.Expect(t, diags, `WARNING at AttributeName("contact_info"): contact_info of example.com is only stored`, "nothing changes at the registrar")

	for _, unknown := range []string{"name", "redirect_url", "workspace_id", "auto_renew", "contact_info"} {
		plan, diags := p.Plan(domainType, attributes("example.com", map[string]any{unknown: acctest.Unknown}), o)
		p.NoErrors(diags)
		if len(diags) > 0 || len(plan.Replace) > 0 || plan.State.IsFullyKnown() || plan.Text("id") != o.Text("id") {
			t.Errorf("%s: %v, %v, %v", unknown, acctest.Render(diags), plan.Replace, plan.State)
		}
		isSent := plan.Text("updated_at") == "(unknown)"
		assert.Check(t, isSent == (unknown != "contact_info" && unknown != "name"), "%s: updated_at is planned as %s", unknown, plan.Text("updated_at"))
	}
	_, diags = p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"contact_info": contactAttributes(map[string]any{"city": "Köln"})}), o)
	if p.NoErrors(diags); slices.Contains(s.Sent(), "update-domain") {
		t.Errorf("contact_info alone sends %v", s.Sent())
	}
	_, diags = p.Plan(domainType, nil, o)
	assert.Check(t, !strings.Contains(acctest.Render(diags), "mailbox"), "without mailboxes: %s", acctest.Render(diags))
	s.Mailbox(t, "example.com", "jane")
	_, diags = p.Plan(domainType, nil, o)
	acctest.Expect(t, diags, "WARNING", "there is no refund", "The domain has 1 mailbox now", "If others remain, it fails")
}

func TestValidation(t *testing.T) {
	t.Parallel()
	p := acctest.NewServer(t, acctest.Options{}).Protocol(t, "")
	contact := func(name string, v any) map[string]any {
		return map[string]any{"contact_info": contactAttributes(map[string]any{name: v})}
	}
	for name, test := range map[string]struct {
		changes map[string]any
		parts   []string
	}{
		"name":            {map[string]any{"name": "example..com"}, []string{`at AttributeName("name")`, "example.com"}},
		"no dot":          {map[string]any{"name": "localhost"}, []string{`at AttributeName("name")`}},
		"workspace":       {map[string]any{"workspace_id": "Default"}, []string{`at AttributeName("workspace_id")`, "UUID"}},
		"redirect":        {map[string]any{"redirect_url": "www.example.com"}, []string{`at AttributeName("redirect_url")`, "http or https URL"}},
		"long redirect":   {map[string]any{"redirect_url": "https://example.com/" + strings.Repeat("x", 2048)}, []string{`at AttributeName("redirect_url")`, "2048 characters"}},
		"no redirect":     {map[string]any{"redirect_url": ""}, nil},
		"phone":           {contact("phone", "030 123456"), []string{`AttributeName("phone")`, "country code"}},
		"country":         {contact("country", "Germany"), []string{`AttributeName("country")`, "ISO 3166", "DE"}},
		"email":           {contact("email", "zoe@"), []string{`AttributeName("email")`, "jane@example.com"}},
		"empty state":     {contact("state", ""), []string{`AttributeName("state")`, "1 to 255 characters"}},
		"long city":       {contact("city", strings.Repeat("x", 256)), []string{`AttributeName("city")`, "it has 256"}},
		"missing zip":     {contact("zip", nil), []string{"zip"}},
		"create timeout":  {map[string]any{"timeouts": map[string]any{"create": "soon"}}, []string{"create"}},
		"no time":         {map[string]any{"timeouts": map[string]any{"create": "0s"}}, []string{`AttributeName("timeouts").AttributeName("create")`, "at least 1s"}},
		"unknown is fine": {map[string]any{"name": acctest.Unknown, "redirect_url": acctest.Unknown, "contact_info": acctest.Unknown}, nil},
		"known is fine":   {map[string]any{"name": "Bücher.DE.", "redirect_url": "HTTPS://example.com", "workspace_id": "7F0C1C1E-6f0e-4d8e-9a3c-1f2a3b4c5d6e"}, nil},
	} {
		diags := p.Validate(domainType, attributes("example.com", test.changes))
		text := acctest.Render(diags)
		if (len(test.parts) == 0) != (text == "") {
			t.Errorf("%s: %s", name, text)
			continue
		}
		acctest.Expect(t, diags, test.parts...)
		assert.Check(t, !strings.Contains(text, "030 123456") && !strings.Contains(text, "zoe@"), "%s: a sensitive value is in %s", name, text)
	}
}

// withFixture replaces the account of s by an account with a domain that a purchase can't create.
func withFixture(t *testing.T, s *acctest.Server, d fixture.Domain) {
	const accountID = "0a7d6d0e-3f3b-4c57-9d0c-4b0f8a1f5d10"
	err := s.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{ID: accountID, Domains: []fixture.Domain{d}}}})
	assert.NilError(t, err)
	s.AccountID = accountID
	s.Token, err = s.Service.IssueOwnerToken(t.Context(), accountID, "acceptance test")
	assert.NilError(t, err)
}

// TestNotRegistrable checks that the plan refuses a name that can't be bought, unless the
// account owns it.
func TestNotRegistrable(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		withFixture(t, s, fixture.Domain{Name: "mail.stocked.com"})
		p := s.Protocol(t, "")
		for name, reason := range map[string]string{
			"mail.example.org": `it lies below "example.org"`, "co.uk": `"co.uk" is a public suffix`, "www.Bücher.de.": `it lies below "xn--bcher-kva.de"`,
		} {
			for _, contact := range []any{nil, acctest.Unknown, contactAttributes(nil)} {
				_, diags := p.Plan(domainType, attributes(name, map[string]any{"contact_info": contact}), nil)
				acctest.Expect(t, diags, `ERROR at AttributeName("name"): Can't buy the domain `+strings.NewReplacer("Bücher.de.", "xn--bcher-kva.de").Replace(name), reason, "such as example.com", "mailhost_dns_record", "account_id")
				assert.Check(t, len(diags) == 1, "%s: more than one problem: %s", name, acctest.Render(diags))
			}
		}
		_, diags := p.Plan(domainType, attributes("example.org", nil), nil)
		p.NoErrors(diags)
		_, diags = p.Plan(domainType, attributes("MAIL.stocked.com", map[string]any{"contact_info": nil, "on_existing": "adopt"}), nil)
		p.NoErrors(diags) // an adoption needs no contact_info
		_, diags = p.Plan(domainType, map[string]any{"name": acctest.Unknown}, nil)
		assert.Check(t, len(diags) == 0, "an unknown name: %s", acctest.Render(diags))
	})
}

// TestUnknownTLD checks that the API decides whether it sells a name under a top-level domain.
func TestUnknownTLD(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, withoutAvailability(t, s))
	for _, name := range []string{"example.newtld", "example.github.io", "example.arpa"} {
		config := attributes(name, nil)
		plan, diags := p.Plan(domainType, config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan buys the domain "+name)
		_, diags = p.ApplyPlan(t.Context(), domainType, config, nil, plan)
		acctest.Expect(t, diags, `ERROR at AttributeName("name"): Can't buy the domain `+name, "Error code unsupported_tld")
	}
	offers := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acctest.Rewrite(w, r, next, func(body string) string {
			return strings.Replace(body, `"available":false`, `"available":true`, 1)
		})
	}))
	_, diags := offers.Plan(domainType, attributes("example.newtld", nil), nil)
	if acctest.Expect(t, diags, "WARNING", "The plan buys the domain example.newtld"); len(diags) != 1 {
		t.Errorf("the API offers it: %s", acctest.Render(diags))
	}
	_, diags = s.Protocol(t, "").Plan(domainType, attributes("example.newtld", nil), nil)
	acctest.Expect(t, diags, `ERROR at AttributeName("name"): Can't buy the domain example.newtld`, "Error code unsupported_tld")
}

// TestPlanLooksSparingly checks that a plan looks up each new domain and its price once,
// and that a failed lookup is a warning and repeated by the create.
func TestPlanLooksSparingly(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var looks atomic.Int32
	var refuse atomic.Bool
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		looks.Add(1)
		if refuse.Load() && !strings.HasSuffix(r.URL.Path, "/auth/caller") {
			acctest.Refuse(w, http.StatusForbidden, "header.authorization", "the credential lacks domain.view")
			return
		}
		next.ServeHTTP(w, r)
	}))
	p.Together()
	for _, name := range []string{"example.com", "example.net"} { // the first one also reads the account
		looks.Store(0)
		_, diags := p.Plan(domainType, attributes(name, nil), nil)
		p.NoErrors(diags)
	}
	assert.Check(t, looks.Load() == 2, "%d requests for the plan of a purchase", looks.Load())
	p.Walk()
	looks.Store(0)
	refuse.Store(true)
	config := attributes("www.example.com", nil)
	plan, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("name"): The plan may buy the domain www.example.com`, "whether the account owns www.example.com", "lacks domain.view", "remove contact_info")
	assert.Check(t, looks.Load() != 0 && plan.Text("acquisition") == "(unknown)", "%d requests, planned %s", looks.Load(), plan.State)
	_, diags = p.Plan(domainType, attributes("", map[string]any{"name": acctest.Unknown}), nil)
	acctest.Expect(t, diags, "WARNING", "The plan may buy a domain", "whether the account owns the domain: the name is known only after")
	_, diags = p.Plan(domainType, attributes("example..com", nil), nil) // the validation did not know this name
	acctest.Expect(t, diags, "WARNING", "The plan may buy the domain example..com", "lacks domain.view")
	_, diags = p.Plan(domainType, attributes("www.example.com", map[string]any{"contact_info": nil}), nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("name"): The plan could not look up the domain www.example.com`, "whether the account owns www.example.com", "lacks domain.view", "without contact_info")
	refuse.Store(false)
	o, diags := p.ApplyPlan(t.Context(), domainType, config, nil, plan)
	acctest.Expect(t, diags, `ERROR at AttributeName("name"): Can't buy the domain www.example.com`, "lies below", "Error code invalid_domain", "without www")
	assert.Check(t, o.Gone(), "it is in the state")
}

// TestPriceOutage checks that a plan that may buy fails during an outage: a saved plan
// would buy at a price that nobody has seen. A refusal is a warning with its reason.
func TestPriceOutage(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	owned := s.Domain(t, "owned.com").Name
	var status atomic.Int32
	var at atomic.Value
	url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if code := int(status.Load()); code != 0 && strings.HasSuffix(r.URL.Path, at.Load().(string)) {
			acctest.Refuse(w, code, "path", "not now")
			return
		}
		next.ServeHTTP(w, r)
	})
	p := s.ProtocolOf(t, url, provider.NewReplaced("test", provider.Replacements{Hooks: client.Hooks{RetryMax: -1}})())
	config := attributes("acme.com", nil)
	for _, c := range []struct {
		path   string
		status int
		want   []string
	}{
		{"/availability", 503, []string{`ERROR: Can't look up the domain acme.com`, "HTTP 503", "show the price", "Plan again"}},
		{"/domains/acme.com", 500, []string{`ERROR: Can't look up the domain acme.com`, "HTTP 500", "whether the account owns it, and the price otherwise", "Plan again"}},
		{"/availability", 408, []string{`ERROR: Can't look up the domain acme.com`, "HTTP 408", "Plan again"}},
		{"/availability", 429, []string{`ERROR: Can't look up the domain acme.com`, "HTTP 429", "Plan again"}},
		{"/availability", 400, []string{`WARNING at AttributeName("name"): The plan buys the domain acme.com`, "can't show the price: ", "not now"}},
		{"/availability", 403, []string{`WARNING at AttributeName("name"): The plan buys the domain acme.com`, "can't show the price: ", "not now"}},
		{"/availability", 404, []string{`WARNING at AttributeName("name"): The plan buys the domain acme.com`, "can't show the price: the API does not return it"}},
	} {
		status.Store(int32(c.status))
		at.Store(c.path)
		_, diags := p.Plan(domainType, config, nil)
		if acctest.Expect(t, diags, c.want...); len(diags) != 1 {
			t.Errorf("%s %d: %s", c.path, c.status, acctest.Render(diags))
		}
	}
	status.Store(http.StatusForbidden)
	at.Store("/" + s.AccountID)
	plan, diags := p.Plan(domainType, config, nil)
	assert.Check(t, is.Equal(plan.Text("workspace_id"), s.WorkspaceID), acctest.Render(diags))
	status.Store(http.StatusInternalServerError)
	at.Store("/domains/acme.com")
	_, diags = p.Plan(domainType, attributes("acme.com", map[string]any{"contact_info": nil}), nil)
	acctest.Expect(t, diags, `ERROR: Can't look up the domain acme.com`, "has to show whether the account owns it. Plan again")
	at.Store("/availability")
	_, diags = p.Plan(domainType, attributes(owned, map[string]any{"on_existing": "adopt"}), nil)
	p.NoErrors(diags)

	_, diags = s.ProtocolOfUnknownToken(t).Plan(domainType, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "The plan may buy the domain acme.com", "a setting of the provider is known only after")
}
