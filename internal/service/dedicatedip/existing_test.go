package dedicatedip_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

type values = map[string]any

// claimOutside claims an address that no state has, as an apply does that is killed right after its claim.
func claimOutside(t *testing.T, s *acctest.Server, region string) *api.DedicatedIP {
	t.Helper()
	ip, err := s.Client.ClaimDedicatedIP(t.Context(), option(s, region))
	assert.NilError(t, err)
	return ip
}

// claims returns the number of addresses of the account.
func claims(t *testing.T, s *acctest.Server) (n int) {
	t.Helper()
	for _, err := range s.Client.ListDedicatedIPs(t.Context(), api.ListDedicatedIPsRequest{}) {
		assert.NilError(t, err)
		n++
	}
	return n
}

// TestUnusedAddress plans a claim while the account has an address that no domain uses: an error by default,
// a second purchase with "create", and none in another country.
func TestUnusedAddress(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		config := values{"option_id": option(s, "eu")}
		plan, diags := p.Plan(ipType, config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan claims and pays for a dedicated IP of the option ", "Concerns: purchase")
		assert.Check(t, plan.Text("acquisition") == "purchase" && !strings.Contains(acctest.Render(diags), "a second time"), acctest.Render(diags))
		ip := claimOutside(t, s, "eu")
		refused := []string{
			"ERROR: The dedicated IP " + ip.Name + " exists already", ip.ID, "No domain uses it", "killed", `on_existing = "create"`, "import {",
			`id = "` + ip.IPAddresses[0].IP + `"`, `on_existing = "adopt"`,
		}
		_, diags = p.Plan(ipType, config, nil)
		acctest.Expect(t, diags, refused...)
		assert.Check(t, len(diags) == 1, "nothing is claimed, so no purchase is announced: %s", acctest.Render(diags))
		_, diags = p.Plan(ipType, values{"option_id": option(s, "us")}, nil)
		if assert.Check(t, (acctest.Errors(diags) > 0) == s.PublishedOnly, "another country: %s", acctest.Render(diags)); s.PublishedOnly {
			acctest.Expect(t, diags, refused...) // the API can't list the country of an option
		}
		// Only the apply knows the option.
		plan, diags = p.Plan(ipType, values{"option_id": acctest.Unknown}, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan claims and pays for a dedicated IP of an option that is known after the apply")
		assert.Check(t, plan.Text("acquisition") == "(unknown)", "planned %s", plan.State)

		creating := values{"option_id": option(s, "eu"), "on_existing": "create"}
		plan, diags = p.Plan(ipType, creating, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan claims and pays for", "that the state may lack", ip.Name, "Concerns: purchase, a second time")
		o, diags := p.ApplyPlan(t.Context(), ipType, creating, nil, plan)
		p.NoErrors(diags)
		assert.Check(t, o.Text("acquisition") == "purchase" && o.Text("id") != ip.ID && claims(t, s) == 2, "claimed %s", o.State)
	})
}

// TestSeveralClaims claims two addresses in one apply, whose second plan of the second create sees the first address.
func TestSeveralClaims(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	for _, onExisting := range []any{nil, "adopt"} {
		config := values{"option_id": option(s, map[any]string{nil: "eu", "adopt": "us"}[onExisting]), "on_existing": onExisting}
		p.Together()
		for range 2 {
			plan, diags := p.Plan(ipType, config, nil)
			p.NoErrors(diags)
			o, diags := p.ApplyPlan(t.Context(), ipType, config, nil, plan)
			p.NoErrors(diags)
			assert.Check(t, o.Text("acquisition") == "purchase", "on_existing = %v: %s", onExisting, o.State)
		}
	}
	assert.Check(t, claims(t, s) == 4)
}

// TestAdoption adopts the addresses of the account that no domain uses, whatever the order of the plans in
// the apply, and claims none.
func TestAdoption(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		config := values{"option_id": option(s, "eu"), "on_existing": "adopt"}
		first := claimOutside(t, s, "eu")
		p := s.Protocol(t, "")
		plan, diags := p.Plan(ipType, config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan adopts the dedicated IP "+first.Name, first.ID, "a destroy deletes it")
		known := plan.Text("acquisition") == "adopt" && plan.Text("id") == first.ID && plan.Text("name") == first.Name && strings.Contains(plan.State.String(), first.IPAddresses[0].IP)
		assert.Check(t, known && !strings.Contains(acctest.Render(diags), "Concerns"), "planned %s: %s", plan.State, acctest.Render(diags))

		second, third := claimOutside(t, s, "eu"), claimOutside(t, s, "eu")
		s.Sent() // the claims above
		p.Together()
		var plans []*acctest.Object
		for range 2 {
			plan, diags := p.Plan(ipType, config, nil)
			p.NoErrors(diags)
			plans = append(plans, plan)
		}
		slices.Reverse(plans)
		p.Together() // the apply
		var ids []string
		for _, earlier := range plans {
			plan, diags := p.Plan(ipType, config, nil)
			p.NoErrors(diags)
			assert.Check(t, plan.State.Equal(earlier.State), "the plan of the apply is another one: %s, %s", earlier.State, plan.State)
			o, diags := p.ApplyPlan(t.Context(), ipType, config, nil, plan)
			p.NoErrors(diags)
			ids = append(ids, o.Text("id"))
			o, diags = s.Protocol(t, "").Read(ipType, o)
			p.NoErrors(diags)
			again, diags := s.Protocol(t, "").Plan(ipType, config, o)
			p.NoErrors(diags)
			assert.Check(t, again.State.Equal(o.State), "the next plan is not empty: %s", again.State)
		}
		slices.Sort(ids)
		want := []string{first.ID, second.ID}
		slices.Sort(want)
		assert.Check(t, slices.Equal(ids, want) && !slices.Contains(s.Sent(), api.ClaimDedicatedIP.ID) && claims(t, s) == 3, "adopted %v, want %v and not %s", ids, want, third.ID)

		p.Together()
		var errors []*tfprotov6.Diagnostic
		for range 4 {
			_, diags := p.Plan(ipType, config, nil)
			if acctest.Errors(diags) > 0 {
				errors = append(errors, diags...)
			}
		}
		acctest.Expect(t, errors, "ERROR", "No unused dedicated IP is left to adopt", third.Name, `on_existing = "create"`)
		assert.Check(t, acctest.Errors(errors) == 1, acctest.Render(errors))
	})
}

// TestAdoptionFails applies the plan of an adoption after the address was released.
func TestAdoptionFails(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	config := values{"option_id": option(s, "eu"), "on_existing": "adopt"}
	ip := claimOutside(t, s, "eu")
	p := s.Protocol(t, "")
	plan, diags := p.Plan(ipType, config, nil)
	p.NoErrors(diags)
	assert.NilError(t, s.Client.DedicatedIPs.Delete(t.Context(), ip.ID))
	o, diags := p.Walk().ApplyPlan(t.Context(), ipType, config, nil, plan)
	acctest.Expect(t, diags, "ERROR: Can't adopt the dedicated IP "+ip.Name, "Nothing was claimed", "Plan again")
	assert.Check(t, o.Gone() && claims(t, s) == 0, "claimed %s", o.State)
	again, diags := p.Walk().Plan(ipType, config, nil) // core compares it with the first plan
	p.NoErrors(diags)
	assert.Check(t, again.Text("acquisition") == "purchase" && plan.Text("acquisition") == "adopt")
}

// TestReleasedOutside plans after somebody else has released an address of the state: another one is claimed, and
// the plan says that it is a second one.
func TestReleasedOutside(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	for _, onExisting := range []any{nil, "adopt", "create"} {
		config := values{"option_id": option(s, "eu"), "on_existing": onExisting}
		o, diags := p.Apply(t.Context(), ipType, config, nil)
		p.NoErrors(diags)
		assert.NilError(t, s.Client.DedicatedIPs.Delete(t.Context(), o.Text("id")))
		p.Together()
		gone, diags := p.Read(ipType, o)
		p.NoErrors(diags)
		assert.Assert(t, gone.Gone())
		plan, diags := p.Plan(ipType, config, &acctest.Object{State: p.Null(ipType), Private: gone.Private}) // as core does
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan claims and pays for a dedicated IP", "was released outside Terraform", "Concerns: purchase, a second time")
		assert.Check(t, plan.Text("acquisition") == "purchase", "planned %s", plan.State)
	}
}

// TestAdoptionOfManaged plans the adoption of an address that the state has, in both orders.
func TestAdoptionOfManaged(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	config := values{"option_id": option(s, "eu"), "on_existing": "adopt"}
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), ipType, config, nil)
	p.NoErrors(diags)
	read := func() []*tfprotov6.Diagnostic { _, diags := p.Read(ipType, o); return diags }
	create := func() []*tfprotov6.Diagnostic { _, diags := p.Plan(ipType, config, nil); return diags }
	for name, calls := range map[string][]func() []*tfprotov6.Diagnostic{"read first": {read, create}, "created first": {create, read}} {
		p.Together()
		var all []*tfprotov6.Diagnostic
		for _, call := range calls {
			all = append(all, call()...)
		}
		t.Log(name)
		acctest.Expect(t, all, "ERROR: The dedicated IP "+o.Text("name")+" exists already", o.Text("id"))
	}
}

// TestReplacement replaces an address: only another option does.
func TestReplacement(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		config := values{"option_id": option(s, "eu")}
		p := s.Protocol(t, "")
		o, diags := p.Apply(t.Context(), ipType, config, nil)
		p.NoErrors(diags)
		for _, onExisting := range []any{nil, "adopt", "create"} {
			config := values{"option_id": option(s, "eu"), "on_existing": onExisting}
			_, diags = p.PlanReplacement(ipType, config, o) // -replace, replace_triggered_by
			acctest.Expect(t, diags, "ERROR: The dedicated IP of this resource exists already", "Terraform's state has it", "Nothing was bought", "-replace")

			tainted, _ := s.Protocol(t, "").Plan(ipType, values{"option_id": option(s, "eu"), "on_existing": "create"}, nil)
			destroy := &acctest.Object{State: p.Null(ipType), Private: tainted.Private, Identity: o.Identity}
			kept, diags := p.Walk().ApplyPlan(t.Context(), ipType, nil, o, destroy)
			acctest.Expect(t, diags, "ERROR: The dedicated IP "+o.Text("name")+" was not released", o.Text("id"), "terraform untaint")
			assert.Check(t, !kept.Gone() && claims(t, s) == 1, "released")
			o, diags = p.Walk().Read(ipType, kept) // its destroy, below, is not refused
			p.NoErrors(diags)
		}
		other := values{"option_id": option(s, "us")}
		first, diags := p.Plan(ipType, other, o)
		p.NoErrors(diags)
		assert.Check(t, len(first.Replace) == 1)
		want := []string{"WARNING", "The plan replaces the dedicated IP " + o.Text("name"), "claims and pays for another address", "Concerns: money, purchase"}
		if s.PublishedOnly {
			want = []string{"WARNING", "The dedicated IP " + o.Text("name") + " will still exist", "still paid for", "The plan claims and pays for a dedicated IP", "Concerns: purchase"}
		}
		acctest.Expect(t, diags, want...)
		replaced, _ := p.ApplyReplacement(t.Context(), ipType, other, o)
		assert.Check(t, replaced.Text("id") != o.Text("id") && replaced.Text("acquisition") == "purchase", "replaced by %s", replaced.State)
		_, diags = p.Walk().ApplyPlan(t.Context(), ipType, nil, replaced, &acctest.Object{State: p.Null(ipType), Private: o.Private, Identity: replaced.Identity})
		p.NoErrors(diags)
	})
}

// TestUnusedInState plans an address of the state that no domain uses, or that the host releases: a warning in each plan.
func TestUnusedInState(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	config := values{"option_id": option(s, "eu")}
	o, diags := s.Protocol(t, "").Apply(t.Context(), ipType, config, nil)
	assert.Check(t, acctest.Errors(diags) <= 0, acctest.Render(diags))
	for name, c := range map[string]struct{ from, to, warning string }{
		"unused":    {"", "", "WARNING: No domain uses the dedicated IP " + o.Text("name") + "\n"},
		"used":      {`"dedicated_ip_id":null`, `"dedicated_ip_id":"` + strings.ToUpper(o.Text("id")) + `"`, ""},
		"releasing": {`"status":"active"`, `"status":"releasing"`, "WARNING: The dedicated IP " + o.Text("name") + " is being released\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				acctest.Rewrite(w, r, next, func(body string) string {
					if c.from == "" {
						return body
					}
					return strings.ReplaceAll(body, c.from, c.to)
				})
			}))
			for range 2 {
				o, diags := p.Walk().Read(ipType, o)
				p.NoErrors(diags)
				plan, diags := p.Plan(ipType, config, o)
				p.NoErrors(diags)
				assert.Check(t, plan.State.Equal(o.State), "the plan is not empty")
				if acctest.Expect(t, diags, c.warning); c.warning == "" {
					assert.Check(t, len(diags) == 0, acctest.Render(diags))
				}
			}
		})
	}
}
