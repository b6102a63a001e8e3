package domain_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestNotReplacedByItself checks that a domain in the state is not created again: with
// Terraform's calls for -replace and replace_triggered_by, for a tainted domain, and for a
// block that is renamed or repeated, with and without a refresh.
func TestNotReplacedByItself(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		config, other := attributes("acme.com", nil), attributes("ACME.com.", nil)
		o, diags := p.Apply(t.Context(), domainType, config, nil)
		p.NoErrors(diags)
		expect := []string{"ERROR", "The domain ", " is in the state already", "create_before_destroy", "its mail stops", "Nothing was bought or deleted", "-replace", "terraform untaint", "moved block", "for_each"}
		for name, refresh := range map[string]bool{"refreshed": true, "-refresh=false": false} {
			read := func() {
				p.Together()
				if refresh {
					_, diags := p.Read(domainType, o)
					p.NoErrors(diags)
				}
			}
			t.Log(name)
			read()
			_, diags = p.PlanReplacement(domainType, config, o)
			acctest.Expect(t, diags, expect...)

			if refresh { // otherwise Terraform does not pass the tainted object
				read()
				_, diags = p.Plan(domainType, config, nil)
				acctest.Expect(t, diags, expect...)
			}

			read() // renamed without a moved block: the orphan comes first
			_, diags = p.Plan(domainType, nil, o)
			p.NoErrors(diags)
			_, diags = p.Plan(domainType, config, nil)
			acctest.Expect(t, diags, "ERROR", "acme.com", "moved block")

			read() // or the orphan comes last
			_, before := p.Plan(domainType, config, nil)
			_, after := p.Plan(domainType, nil, o)
			if acctest.Errors(before)+acctest.Errors(after) == 0 {
				t.Errorf("a rename without moved: %s%s", acctest.Render(before), acctest.Render(after))
			}

			read() // two blocks, one of them new
			_, diags = p.Plan(domainType, config, o)
			p.NoErrors(diags)
			_, diags = p.Plan(domainType, other, nil)
			acctest.Expect(t, diags, "ERROR", "ACME.com.", "for_each")
			read()
			_, before = p.Plan(domainType, other, nil)
			_, after = p.Plan(domainType, config, o)
			if acctest.Errors(before)+acctest.Errors(after) == 0 {
				t.Errorf("written twice: %s%s", acctest.Render(before), acctest.Render(after))
			}
		}
		if get(t, s, "acme.com").ID != o.Text("id") {
			t.Error("it is another domain")
		}
	})
}

// TestTaintedUnseen checks a plan with -refresh=false, which can't see a tainted domain
// and plans its create as an adoption. With create_before_destroy the destroy that follows
// deletes nothing, and the next plan explains the next step.
func TestTaintedUnseen(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := attributes("acme.com", nil)
	o, diags := p.Apply(t.Context(), domainType, config, nil)
	p.NoErrors(diags)

	p.Together() // the apply
	plan, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	current, diags := p.ApplyPlan(t.Context(), domainType, config, nil, plan)
	p.NoErrors(diags)
	destroy, _ := p.Plan(domainType, nil, o)
	deposed, diags := p.ApplyPlan(t.Context(), domainType, nil, o, destroy)
	acctest.Expect(t, diags, "ERROR: The domain acme.com was not deleted", "create_before_destroy", "terraform state rm")
	if deposed.Gone() || get(t, s, "acme.com").ID != o.Text("id") {
		t.Error("it was deleted")
	}

	p.Together() // the next plan
	_, diags = p.Plan(domainType, nil, deposed)
	p.NoErrors(diags)
	_, diags = p.Plan(domainType, config, current)
	acctest.Expect(t, diags, "ERROR: Two resources have the domain acme.com", "deposed", "import the object again")
}

// TestDeletedUnseen checks that, if the destroy comes first, nothing is bought that the
// plan did not announce. The plan of a refused domain announces a purchase.
func TestDeletedUnseen(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := attributes("acme.com", nil)
	o, diags := p.Apply(t.Context(), domainType, config, nil)
	p.NoErrors(diags)
	for _, test := range [][2]string{{"active", "adopt"}, {"failed", "purchase"}} {
		status, want := test[0], test[1]
		p.Together()
		tainted := p.With(domainType, o, "status", status)
		destroy, _ := p.Plan(domainType, nil, tainted)
		_, diags = p.ApplyPlan(t.Context(), domainType, nil, tainted, destroy)
		p.NoErrors(diags)
		plan, diags := p.Plan(domainType, config, nil)
		p.NoErrors(diags)
		if got := plan.Text("acquisition"); got != want {
			t.Errorf("%s: planned %s in the apply, which is inconsistent with %s", status, got, want)
		}
		_, diags = p.ApplyPlan(t.Context(), domainType, config, nil, plan)
		if status == "active" {
			acctest.Expect(t, diags, "ERROR", "does not own the domain acme.com any more", "Nothing was bought")
		} else {
			p.NoErrors(diags)
		}
	}
}

// TestWrittenTwice checks that a domain in two blocks is bought once: the plan refuses the
// second, and so does the apply if the names were unknown in the plan.
func TestWrittenTwice(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var purchases atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isPurchase(r) {
			purchases.Add(1)
		}
		next.ServeHTTP(w, r)
	})).Together()
	first, second := attributes("Acme.com", nil), attributes("acme.com.", nil)
	_, diags := p.Plan(domainType, first, nil)
	p.NoErrors(diags)
	_, diags = p.Plan(domainType, second, nil)
	acctest.Expect(t, diags, "ERROR: Two resources have the domain acme.com.", "for_each")

	p.Together()
	unknown, diags := p.Plan(domainType, attributes("", map[string]any{"name": acctest.Unknown}), nil)
	p.NoErrors(diags)
	a, diags := p.ApplyPlan(t.Context(), domainType, first, nil, p.With(domainType, unknown, "name", "Acme.com"))
	p.NoErrors(diags)
	b, diags := p.ApplyPlan(t.Context(), domainType, second, nil, p.With(domainType, unknown, "name", "acme.com."))
	acctest.Expect(t, diags, "ERROR: Another resource of this configuration manages the domain acme.com.", "for_each")
	if a.Gone() || !b.Gone() || purchases.Load() != 1 || a.Text("acquisition") != "purchase" {
		t.Errorf("%d purchases: %s, %s", purchases.Load(), a.State, b.State)
	}
	// Terraform plans it again in the apply, and stops there.
	_, diags = p.Plan(domainType, second, nil)
	acctest.Expect(t, diags, "ERROR: Two resources have the domain acme.com.")
}

// TestSavedPlan checks that a saved plan does what it announced, or nothing.
func TestSavedPlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := attributes("acme.com", nil)
	purchase, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	owned := s.Domain(t, "acme.com")
	o, diags := p.Walk().ApplyPlan(t.Context(), domainType, config, nil, purchase)
	acctest.Expect(t, diags, "ERROR", "The account owns the domain acme.com by now", owned.ID, "Nothing was bought, changed or deleted")
	if !o.Gone() {
		t.Errorf("state %s", o.State)
	}
	adopt, diags := p.Plan(domainType, config, nil)
	p.NoErrors(diags)
	if err := s.Client.DeleteDomain(t.Context(), owned.ID); err != nil {
		t.Fatal(err)
	}
	o, diags = p.Walk().ApplyPlan(t.Context(), domainType, config, nil, adopt)
	acctest.Expect(t, diags, "ERROR", "does not own the domain acme.com any more", "Nothing was bought")
	if !o.Gone() {
		t.Errorf("state %s", o.State)
	}
}

func TestOnExisting(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		config := attributes("acme.com", map[string]any{"on_existing": "error"})
		owned := s.Domain(t, "acme.com")
		_, diags := p.Plan(domainType, config, nil)
		acctest.Expect(t, diags, `ERROR at AttributeName("on_existing"): The account owns the domain acme.com already`, owned.ID, "import it", `on_existing = "adopt"`)
		unknown, diags := p.Plan(domainType, attributes("", map[string]any{"name": acctest.Unknown, "on_existing": "error"}), nil)
		p.NoErrors(diags)
		o, diags := p.Walk().ApplyPlan(t.Context(), domainType, config, nil, p.With(domainType, unknown, "name", "acme.com"))
		acctest.Expect(t, diags, "ERROR", "The account owns the domain acme.com already")
		if !o.Gone() {
			t.Errorf("state %s", o.State)
		}
		bought, diags := p.Apply(t.Context(), domainType, attributes("acme.net", map[string]any{"on_existing": "error"}), nil)
		p.NoErrors(diags)
		plan, diags := p.Plan(domainType, attributes("acme.net", nil), bought) // only on_existing changes
		if len(diags) > 0 || plan.Text("acquisition") != "purchase" || !plan.State.IsFullyKnown() {
			t.Errorf("%s: %s", plan.State, acctest.Render(diags))
		}
		acctest.Expect(t, p.Validate(domainType, attributes("acme.com", map[string]any{"on_existing": "buy"})), "ERROR", "on_existing")
	})
}

// TestPurchaseIsAnnounced checks that the plan of a purchase shows the price, and
// announces a repeated purchase.
func TestPurchaseIsAnnounced(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		config := attributes("acme.com", nil)
		price := "The price is 12.00 USD."
		if s.PublishedOnly {
			price = "This API returns the price only with the purchase."
		}
		plan, diags := p.Plan(domainType, config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, `WARNING at AttributeName("name"): The plan buys a domain`+"\n", "does not own acme.com", price, "no refund", "account_id")
		if plan.Text("acquisition") != "purchase" {
			t.Errorf("planned %s", plan.State)
		}
		o, diags := p.Apply(t.Context(), domainType, config, nil)
		if len(diags) > 0 || o.Text("acquisition") != "purchase" {
			t.Errorf("%s: %s", o.State, acctest.Render(diags))
		}
		if err := s.Client.DeleteDomain(t.Context(), "acme.com"); err != nil {
			t.Fatal(err)
		}
		p.Together()
		gone, diags := p.Read(domainType, o)
		p.NoErrors(diags)
		if !gone.Gone() {
			t.Fatal("it is in the state")
		}
		_, diags = p.Plan(domainType, config, nil)
		acctest.Expect(t, diags, "WARNING", "The plan buys a domain again\n", "was in the state", "deleted outside Terraform", price)
	})
}

// TestAcquisitionOfOldStates checks that a state of an earlier version, which has no
// acquisition, is no change, and that an import sets it to adopted.
func TestAcquisitionOfOldStates(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := attributes("acme.com", nil)
	o, diags := p.Apply(t.Context(), domainType, config, nil)
	p.NoErrors(diags)
	old, diags := p.Read(domainType, p.With(domainType, o, "acquisition", nil))
	p.NoErrors(diags)
	plan, diags := p.Plan(domainType, config, old)
	if len(diags) > 0 || !plan.State.Equal(old.State) || old.Text("acquisition") != "" {
		t.Errorf("planned %s: %s", plan.State, acctest.Render(diags))
	}
	changed, diags := p.Apply(t.Context(), domainType, attributes("acme.com", map[string]any{"auto_renew": true}), old)
	p.NoErrors(diags)
	if changed.Text("acquisition") != "" {
		t.Errorf("state %s", changed.State)
	}
	imported, diags := p.Import(domainType, "acme.com", nil)
	p.NoErrors(diags)
	imported, diags = p.Read(domainType, imported)
	p.NoErrors(diags)
	if imported.Text("acquisition") != "adopt" {
		t.Errorf("imported %s", imported.State)
	}
}
