package domain_test

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

func TestPurchaseRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{Registrar: apiserver.Registrar{Taken: []string{"taken.com"}, Premium: []string{"premium.com"}, UnsupportedTLDs: []string{"org"}}})
	p, blind := s.Protocol(t, ""), s.Protocol(t, withoutAvailability(t, s))
	for name, parts := range map[string][]string{
		"example.org": {"under .org are not sold", "Error code unsupported_tld", "another top-level domain"},
		"taken.com":   {"registered already", "Error code unavailable", "transfer it"},
		"premium.com": {"not sold over the API", "Error code premium_domain", "control panel"},
	} {
		_, diags := p.Plan(domainType, attributes(name, nil), nil)
		acctest.Expect(t, diags, append([]string{`ERROR at AttributeName("name"): Can't buy the domain ` + name, "the API would refuse"}, parts...)...)
		o, diags := blind.Apply(t.Context(), domainType, attributes(name, nil), nil)
		acctest.Expect(t, diags, append([]string{`ERROR at AttributeName("name"): Can't buy the domain ` + name}, parts...)...)
		assert.Check(t, o.Gone(), "%s is in the state", name)
	}
}

// withoutAvailability serves an API that does not report the price of a domain.
func withoutAvailability(t *testing.T, s *acctest.Server) (url string) {
	return s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/domains/availability") {
			acctest.Refuse(w, http.StatusNotFound, "path.domain", "no such domain")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// TestPurchaseProblems checks that the API's errors are reported at the attributes, also
// if the provider does not expect them.
func TestPurchaseProblems(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for loc, want := range map[string][2]string{
		"body.domains.0":           {`AttributeName("name")`, ""},
		"body.contact_info.phone":  {`AttributeName("contact_info").AttributeName("phone")`, "Correct the value"},
		"body.workspace_id":        {`AttributeName("workspace_id")`, "does not return the account's default workspace. Set workspace_id"},
		"body.contact_info.county": {`AttributeName("contact_info").AttributeName("county")`, "Correct the value"},
	} {
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if isPurchase(r) {
				acctest.Refuse(w, http.StatusUnprocessableEntity, loc, "this will not do")
				return
			}
			acctest.Rewrite(w, r, next, func(body string) string {
				return strings.ReplaceAll(body, `"default_workspace_id":"`+s.WorkspaceID+`"`, `"default_workspace_id":""`)
			})
		}))
		_, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
		acctest.Expect(t, diags, "ERROR at "+want[0]+": Can't buy the domain example.com\n", "This will not do.", "HTTP 422, request id refused-by-test", want[1])
	}
}

func TestContactMissing(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := attributes("Example.com", map[string]any{"contact_info": nil})
	_, diags := p.Plan(domainType, config, nil)
	acctest.Expect(t, diags, `ERROR at AttributeName("contact_info"): contact_info is missing to buy the domain example.com`, "Add contact_info = {")

	// An unknown value is checked in the apply.
	for name, value := range map[string]any{"name": "example.net", "contact_info": nil} {
		final := attributes("example.net", map[string]any{"contact_info": nil})
		planned := maps.Clone(final)
		planned[name] = acctest.Unknown
		unknown, diags := p.Plan(domainType, planned, nil)
		p.NoErrors(diags)
		_, diags = p.Walk().ApplyPlan(t.Context(), domainType, final, nil, p.With(domainType, unknown, name, value))
		acctest.Expect(t, diags, `ERROR at AttributeName("contact_info"): contact_info is missing to buy the domain example.net`)
		assert.Check(t, len(diags) == 1, acctest.Render(diags))
	}
	config["name"], config["on_existing"] = "example.com", "adopt"
	s.Domain(t, "example.com")
	plan, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	assert.NilError(t, s.Client.Domains.Delete(t.Context(), "example.com"))
	o, diags := p.ApplyPlan(t.Context(), domainType, config, nil, plan)
	acctest.Expect(t, diags, "ERROR: Can't adopt the domain example.com", "Nothing was bought", "Plan again")
	assert.Check(t, o.Gone(), "it is in the state")
}

// TestNotReady checks that a purchase that waits for a payment or for the registry
// succeeds: an error would taint the domain.
func TestNotReady(t *testing.T) {
	t.Parallel()
	hour := apiserver.Duration(time.Hour)
	for name, test := range map[string]struct {
		registrar apiserver.Registrar
		status    string
		warning   []string
	}{
		"payment":   {apiserver.Registrar{PaymentNeeded: true}, "pending_payment", []string{"waits for its payment", "Pay at ", "/pay/"}},
		"too slow":  {apiserver.Registrar{ProvisioningDelay: hour}, "pending", []string{"domain example.com is not ready yet", "its status is pending", "Run apply again"}},
		"registry":  {apiserver.Registrar{ProvisioningDelay: apiserver.Duration(100 * time.Millisecond)}, "active", nil},
		"immediate": {apiserver.Registrar{}, "active", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{Registrar: test.registrar})
			p := s.Protocol(t, "")
			config := attributes("example.com", map[string]any{"timeouts": map[string]any{"create": "2s"}, "auto_renew": true})
			o, diags := p.Apply(t.Context(), domainType, config, nil)
			p.NoErrors(diags)
			assert.Check(t, o.Text("status") == test.status && get(t, s, "example.com").AutoRenew, "status %s", o.Text("status"))
			if len(test.warning) == 0 && len(diags) > 0 {
				t.Error(acctest.Render(diags))
			}
			acctest.Expect(t, diags, test.warning...)
			s.Advance(2 * time.Hour)
			refreshed, diags := p.Read(domainType, o)
			p.NoErrors(diags)
			again, diags := p.Plan(domainType, config, refreshed)
			p.NoErrors(diags)
			if name == "payment" {
				acctest.Expect(t, diags, "WARNING: The domain example.com waits for its payment", "Pay at ", "/pay/")
			}
			assert.Check(t, again.State.Equal(refreshed.State), "becoming active made a plan")
		})
	}
}

// TestUnpaid checks that each plan names a purchase that waits for its payment, and that the plan after it has
// expired says that nobody paid. The account of losses marks that as a second purchase.
func TestUnpaid(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{Registrar: apiserver.Registrar{PaymentNeeded: true}})
	p := s.Protocol(t, "")
	config := attributes("example.com", nil)
	plan, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("name"): The plan buys the domain example.com`+"\n", "Concerns: purchase\n")
	o, diags := p.ApplyPlan(t.Context(), domainType, config, nil, plan)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING: The domain example.com waits for its payment", "/pay/")
	for _, changed := range []map[string]any{config, attributes("example.com", map[string]any{"auto_renew": true}), config} {
		if o, diags = p.Walk().Read(domainType, o); true {
			p.NoErrors(diags)
		}
		plan, diags = p.Plan(domainType, changed, o)
		acctest.Expect(t, diags, "WARNING: The domain example.com waits for its payment", "/pay/", "expires")
		if !plan.State.Equal(o.State) {
			o, diags = p.ApplyPlan(t.Context(), domainType, changed, o, plan)
			p.NoErrors(diags)
		}
	}
	config["on_existing"] = "adopt"
	_, diags = p.Plan(domainType, config, nil)
	acctest.Expect(t, diags, "WARNING: The domain example.com waits for its payment", "control panel")
	s.Advance(8 * 24 * time.Hour)
	p.Together()
	gone, diags := p.Read(domainType, o)
	p.NoErrors(diags)
	assert.Assert(t, gone.Gone(), "it is in the state")
	_, diags = p.Plan(domainType, config, nil)
	acctest.Expect(t, diags, `WARNING at AttributeName("name"): The plan buys the domain example.com again`, "nobody paid", "The price is", "Concerns: purchase, a second time\n")
	assert.Check(t, !strings.Contains(acctest.Render(diags), "deleted outside"), acctest.Render(diags))
}

// TestFailed checks that a purchase that the registry refuses is an error that keeps the
// domain in the state, and that an existing refused domain is not added to the state.
func TestFailed(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acctest.Rewrite(w, r, next, func(body string) string { return strings.ReplaceAll(body, `"status":"active"`, `"status":"failed"`) })
	}))
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	acctest.Expect(t, diags, `ERROR at AttributeName("name"): The registration of the domain example.com failed`, "tainted")
	assert.Check(t, o.Text("status") == "failed" && o.Text("id") != "", "state %v", o.State)
	_, diags = p.Plan(domainType, attributes("example.com", nil), nil) // with create_before_destroy, or an empty state
	acctest.Expect(t, diags, "ERROR", "The registration of the domain example.com failed", "run apply again to buy it")
	adopts := attributes("example.com", map[string]any{"on_existing": "adopt"})
	plan, diags := p.Plan(domainType, attributes("example.com", map[string]any{"name": acctest.Unknown, "on_existing": "adopt"}), nil)
	p.NoErrors(diags)
	adopted, diags := p.Walk().ApplyPlan(t.Context(), domainType, adopts, nil, p.With(domainType, plan, "name", "example.com"))
	acctest.Expect(t, diags, "ERROR", "The registration of the domain example.com failed")
	assert.Check(t, adopted.Gone(), "a domain that was not registered is adopted: %v", adopted.State)

	p.Together()
	_, diags = p.Read(domainType, o)
	p.NoErrors(diags)
	again, diags := p.Plan(domainType, attributes("example.com", nil), nil) // the domain is tainted
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "The plan buys the domain example.com again", "refused it the first time", "can't show the price: the API does not return it")
	assert.Check(t, again.Text("acquisition") == "purchase" && again.Text("purchase_price") == "(unknown)", "planned %s", again.State)
}

// TestFailedAgain checks that the plan to buy a failed domain again shows the same price as the apply
// finds after the delete.
func TestFailedAgain(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	withFixture(t, s, fixture.Domain{Name: "example.com", Status: "failed"})
	p := s.Protocol(t, "")
	imported, _ := p.Import(domainType, "example.com", nil)
	failed, diags := p.Together().Read(domainType, imported)
	p.NoErrors(diags)
	tainted := &acctest.Object{State: p.Null(domainType), Private: failed.Private, Identity: failed.Identity}
	planned, diags := p.Plan(domainType, attributes("example.com", nil), tainted)
	acctest.Expect(t, diags, "WARNING", "The plan buys the domain example.com again", "The price is 12.00 USD.")
	_, diags = p.Together().ApplyPlan(t.Context(), domainType, nil, failed, tainted)
	p.NoErrors(diags)
	again, diags := p.Plan(domainType, attributes("example.com", nil), tainted)
	p.NoErrors(diags)
	assert.Check(t, again.State.Equal(planned.State), "planned %s, and in the apply %s", planned.State, again.State)
}

// TestOutcomeUnknown checks that an incomplete list is reported and nothing is bought
// twice.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var sent atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isPurchase(r) {
			sent.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"results":[]}`))
			return
		}
		next.ServeHTTP(w, r)
	}))
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"timeouts": map[string]any{"create": "2s"}}), nil)
	acctest.Expect(t, diags, "ERROR: Can't buy the domain example.com\n", "outcome is unknown", "Check the account's domains and its payments", "it is not bought a second time")
	assert.Check(t, sent.Load() == 1 && o.Gone(), "sent %d times", sent.Load())
}

// TestPurchaseWithoutID buys from an API that does not return the id of the domain: the domain is
// read by its name, or reported as not found.
func TestPurchaseWithoutID(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]bool{{false, true}, {false, false}, {true, false}} {
		hasID, isListed := c[0], c[1]
		s := acctest.NewServer(t, acctest.Options{})
		id := regexp.MustCompile(`"id":"[^"]*"`)
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch {
			case isPurchase(r) && !hasID:
				acctest.Rewrite(w, r, next, func(body string) string { return id.ReplaceAllString(body, `"id":null`) })
			case !isListed && strings.HasSuffix(r.URL.Path, "/domains/example.com"):
				acctest.Refuse(w, http.StatusNotFound, "path.domain", "no such domain")
			case !isListed && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/domains"):
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"items":[],"page":1,"page_size":1000,"total":0}`))
			default:
				next.ServeHTTP(w, r)
			}
		}))
		o, diags := p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"timeouts": map[string]any{"create": "5s"}}), nil)
		if hasID || isListed {
			assert.Check(t, len(diags) == 0 && o.Text("id") == get(t, s, "example.com").ID, "the state has %s: %s", o.State, acctest.Render(diags))
		} else {
			acctest.Expect(t, diags, "ERROR: The domain example.com was bought, but can't be found yet", "not bought a second time")
		}
	}
}

// TestSettingsRefused checks that the domain stays in the state if a setting fails after
// the purchase.
func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var refuse atomic.Bool
	refuse.Store(true)
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isUpdate(r) && refuse.Load() {
			acctest.Refuse(w, http.StatusUnprocessableEntity, "body.redirect_url", "no such place")
			return
		}
		next.ServeHTTP(w, r)
	}))
	config := attributes("example.com", map[string]any{"redirect_url": "https://www.example.com/"})
	bought, diags := p.Apply(t.Context(), domainType, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING: The domain example.com was bought, but its settings are not set", "no such place", "Run apply again to set them")
	assert.Check(t, bought.Text("redirect_url") == "https://www.example.com/" && bought.Text("id") != "", "not as planned, for which Terraform would replace it: %v", bought.State)

	refreshed, diags := p.Read(domainType, bought)
	p.NoErrors(diags)
	_, diags = p.Apply(t.Context(), domainType, config, refreshed)
	acctest.Expect(t, diags, `ERROR at AttributeName("redirect_url"): Can't update the domain example.com`)
	adopting := maps.Clone(config)
	adopting["on_existing"] = "adopt"
	adopted, diags := p.Apply(t.Context(), domainType, adopting, nil)
	acctest.Expect(t, diags, `ERROR at AttributeName("redirect_url"): Can't adopt the domain example.com, which the account owns already`)
	assert.Check(t, adopted.Gone(), "an adoption that failed is in the state")
	refuse.Store(false)
	updated, diags := p.Apply(t.Context(), domainType, config, refreshed)
	p.NoErrors(diags)
	assert.Check(t, updated.Text("redirect_mode") == "301" && updated.Text("updated_at") == get(t, s, "example.com").UpdatedAt, "state %v", updated.State)
	other := maps.Clone(config)
	other["auto_renew"] = !core.Known[bool](acctest.Attributes(updated.State)["auto_renew"])
	kept, diags := p.Plan(domainType, other, updated)
	p.NoErrors(diags)
	other["redirect_url"] = ""
	removed, diags := p.Plan(domainType, other, updated)
	p.NoErrors(diags)
	assert.Check(t, kept.Text("redirect_mode") == "301" && removed.Null("redirect_mode"), "planned %v and %v", kept.State, removed.State)
}

// TestEmptyTexts checks that "" in a response means null, and that a state contains the planned
// workspace until it is refreshed, even if somebody else moves the domain during the apply.
func TestEmptyTexts(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acctest.Rewrite(w, r, next, func(body string) string {
			return strings.NewReplacer(`"redirect_url":null`, `"redirect_url":""`, `"redirect_mode":null`, `"redirect_mode":""`, `"workspace_id":"`+s.WorkspaceID, `"workspace_id":"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e`).Replace(body)
		})
	}))
	created, diags := p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"workspace_id": s.WorkspaceID}), nil)
	p.NoErrors(diags)
	o, diags := p.Read(domainType, created)
	p.NoErrors(diags)
	assert.Check(t, o.Null("redirect_url") && o.Null("redirect_mode") && created.Text("workspace_id") == s.WorkspaceID && o.Text("workspace_id") != s.WorkspaceID, "state %v", o.State)
}

// TestKept checks that a domain keeps the renewal and the redirect that its configuration omits: when it is
// adopted or imported, and after they are removed. It also ends both, and checks that each plan says so.
func TestKept(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	owned := s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	const url = "https://old.example.com/"
	restore := func() {
		t.Helper()
		assert.NilError(t, s.Client.UpdateDomain(t.Context(), owned.ID, api.UpdateDomainBody{AutoRenew: new(true), RedirectURL: api.NullableFrom(new(url))}))
	}
	isKept := func(o *acctest.Object) bool {
		return core.Shown(acctest.Attributes(o.State)["auto_renew"]) == "true" && o.Text("redirect_url") == url && o.Text("redirect_mode") == "301"
	}
	omitting := map[string]any{"name": "example.com", "on_existing": "adopt"}
	ending := map[string]any{"name": "example.com", "on_existing": "adopt", "auto_renew": false, "redirect_url": ""}
	expectEmpty := func(config map[string]any, o *acctest.Object) {
		t.Helper()
		read, diags := p.Walk().Read(domainType, o)
		p.NoErrors(diags)
		again, diags := p.Plan(domainType, config, read)
		assert.Check(t, len(diags) == 0 && again.State.Equal(read.State) && read.State.Equal(o.State), "the next plan is %s\n%s", again.State, acctest.Render(diags))
	}
	imports := func() *acctest.Object {
		t.Helper()
		o, diags := p.Walk().Import(domainType, "example.com", nil)
		p.NoErrors(diags)
		o, diags = p.Read(domainType, o)
		p.NoErrors(diags)
		o, diags = p.Apply(t.Context(), domainType, map[string]any{"name": "example.com", "on_existing": "adopt"}, o)
		p.NoErrors(diags)
		return o
	}
	adopts := func() *acctest.Object { return nil }
	configured := func() *acctest.Object {
		t.Helper()
		plan := map[string]any{"name": "example.com", "on_existing": "adopt", "auto_renew": true, "redirect_url": url}
		o, diags := p.Apply(t.Context(), domainType, plan, nil)
		p.NoErrors(diags)
		return o
	}
	for name, prior := range map[string]func() *acctest.Object{"adopted": adopts, "imported": imports, "updated": configured} {
		restore()
		o := prior()
		plan, diags := p.Walk().Plan(domainType, omitting, o)
		p.NoErrors(diags)
		text := acctest.Render(diags)
		assert.Check(t, isKept(plan) && plan.Text("workspace_id") == s.WorkspaceID && !strings.Contains(text, "The plan ends") && !strings.Contains(text, "The adoption changes"), "%s: planned %s\n%s", name, plan.State, text)
		if o == nil {
			o, diags = p.ApplyPlan(t.Context(), domainType, omitting, nil, plan)
			p.NoErrors(diags)
		}
		d := get(t, s, "example.com")
		assert.Check(t, isKept(o) && d.AutoRenew && *d.RedirectURL == url, "%s: %s", name, o.State)
		expectEmpty(omitting, o)

		o = prior()
		plan, diags = p.Walk().Plan(domainType, ending, o)
		p.NoErrors(diags)
		acctest.Expect(t, diags, `WARNING at AttributeName("auto_renew"): The plan ends the automatic renewal of the domain example.com`, "somebody else can register the name", "Concerns: money",
			`WARNING at AttributeName("redirect_url"): The plan ends the redirect of the domain example.com`, "goes to "+url+" now", "Concerns: reach")
		assert.Check(t, strings.HasPrefix(acctest.Render(diags), `WARNING at AttributeName("auto_renew")`), "%s: the losses come later than %s", name, acctest.Render(diags))
		o, diags = p.ApplyPlan(t.Context(), domainType, ending, o, plan)
		p.NoErrors(diags)
		d = get(t, s, "example.com")
		assert.Check(t, !d.AutoRenew && d.RedirectURL == nil && !o.Null("redirect_url") && o.Text("redirect_url") == "" && o.Null("redirect_mode"), "%s: %s", name, o.State)
		expectEmpty(ending, o)
		expectEmpty(omitting, o)
	}
	// There is nothing to end any more.
	o := imports()
	expectEmpty(ending, o)
	expectEmpty(omitting, o)
	adopted, diags := p.Apply(t.Context(), domainType, ending, nil)
	p.NoErrors(diags)
	expectEmpty(ending, adopted)
	_, diags = p.Plan(domainType, ending, nil)
	assert.Check(t, len(diags) == 1 && !strings.Contains(acctest.Render(diags), "The adoption changes"), acctest.Render(diags))
	// A state of an earlier version has null.
	plan, diags := p.Plan(domainType, ending, p.With(domainType, o, "redirect_url", nil))
	assert.Check(t, len(diags) == 0 && plan.Text("updated_at") == o.Text("updated_at"), "planned %s\n%s", plan.State, acctest.Render(diags))
	bought, diags := p.Apply(t.Context(), domainType, attributes("example.net", map[string]any{"redirect_url": ""}), nil)
	p.NoErrors(diags)
	expectEmpty(attributes("example.net", map[string]any{"redirect_url": ""}), bought)
}

func TestAdopted(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	owned := s.Domain(t, "example.com")
	yes := true
	assert.NilError(t, s.Client.UpdateDomain(t.Context(), owned.ID, api.UpdateDomainBody{AutoRenew: &yes, RedirectURL: api.NullableFrom(new("https://old.example.com/"))}))
	var purchases, updates atomic.Int32
	url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case isPurchase(r):
			purchases.Add(1)
		case isUpdate(r):
			updates.Add(1)
		}
		next.ServeHTTP(w, r)
	})
	p := s.Protocol(t, url)
	config := attributes("EXAMPLE.com", map[string]any{"on_existing": "adopt", "auto_renew": false, "redirect_url": ""})
	plan, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("auto_renew"): The plan ends the automatic renewal of the domain example.com`, `WARNING at AttributeName("redirect_url"): The plan ends the redirect of the domain example.com`, "goes to https://old.example.com/ now",
		`WARNING at AttributeName("on_existing"): The plan adopts the domain example.com`, "The adoption changes:\n  - auto_renew from true to false\n  - redirect_url from https://old.example.com/ to null\n",
		"nothing is created", "a destroy deletes it", "contact_info is not sent")
	assert.Check(t, plan.Text("acquisition") == "adopt", "planned %s", plan.State)
	o, diags := p.ApplyPlan(t.Context(), domainType, config, nil, plan)
	assert.Check(t, len(diags) == 0 && o.Text("acquisition") == "adopt" && o.Text("redirect_url") == "" && o.Null("redirect_mode"), "%s: %s", o.State, acctest.Render(diags))
	assert.Check(t, purchases.Load() == 0 && updates.Load() == 1 && o.Text("id") == owned.ID, "%d purchases, %d updates, %s", purchases.Load(), updates.Load(), o.Text("id"))
	_, diags = p.Plan(domainType, attributes("example.com", map[string]any{"contact_info": nil, "on_existing": "adopt"}), nil)
	if text := acctest.Render(diags); strings.Contains(text, "The adoption changes") || strings.Contains(text, "contact_info") {
		t.Errorf("nothing differs, and there is no contact, but: %s", text)
	}
	_, diags = p.Plan(domainType, attributes("example.com", map[string]any{"workspace_id": "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "auto_renew": acctest.Unknown, "redirect_url": acctest.Unknown, "on_existing": "adopt"}), nil)
	acctest.Expect(t, diags, "auto_renew from false to a value that is known after the apply", "workspace_id from "+s.WorkspaceID+" to 7f0c1c1e")

	// The apply warns if the plan had an unknown name.
	plan, diags = p.Plan(domainType, attributes("example.com", map[string]any{"name": acctest.Unknown, "auto_renew": true, "on_existing": "adopt"}), nil)
	p.NoErrors(diags)
	assert.Check(t, plan.Text("acquisition") == "(unknown)", "planned %s", plan.State)
	config = attributes("example.com", map[string]any{"auto_renew": true, "on_existing": "adopt"})
	plan.State = p.With(domainType, plan, "name", "example.com").State
	o, diags = p.Walk().ApplyPlan(t.Context(), domainType, config, nil, plan)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING: The domain example.com was adopted", "nothing was created", "auto_renew from false to true")
	assert.Check(t, o.Text("acquisition") == "adopt", "state %s", o.State)

	// A planned purchase does not become an adoption.
	_, diags = p.Walk().ApplyPlan(t.Context(), domainType, config, nil, p.With(domainType, plan, "acquisition", "purchase"))
	acctest.Expect(t, diags, "ERROR", "The domain example.com exists already")

	// Without on_existing, the apply refuses the domain.
	plan, diags = p.Walk().Plan(domainType, attributes("example.com", map[string]any{"name": acctest.Unknown}), nil)
	p.NoErrors(diags)
	o, diags = p.Walk().ApplyPlan(t.Context(), domainType, attributes("example.com", nil), nil, p.With(domainType, plan, "name", "example.com"))
	acctest.Expect(t, diags, "ERROR", "The domain example.com exists already", "Nothing was bought", "import {", "example.com")
	assert.Check(t, o.Gone() && purchases.Load() == 0, "state %s", o.State)
}
