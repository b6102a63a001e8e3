package domain_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const domainType = "mailhost_domain"

// attributes returns a configuration that buys a domain, with changes; nil removes an
// attribute.
func attributes(name string, changes map[string]any) map[string]any {
	all := map[string]any{"name": name, "contact_info": contactAttributes(nil)}
	maps.Copy(all, changes)
	return all
}

func contactAttributes(changes map[string]any) map[string]any {
	all := map[string]any{
		"first_name": "Zoë", "last_name": "O'Neil", "organization": "Example GmbH", "email": "zoe@example.org", "phone": "+4930123456",
		"address_1": "Weg 1", "zip": "10115", "city": "Berlin", "state": "BE", "country": "DE",
	}
	maps.Copy(all, changes)
	return all
}

func isPurchase(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/domains/purchase")
}

func isUpdate(r *http.Request) bool { return r.Method == http.MethodPatch }

// TestGoneBeforeTheUpdate checks that a domain that is deleted between the plan and the
// apply is an error and stays in the state. The next refresh removes it, and the next plan
// buys it again.
func TestGoneBeforeTheUpdate(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		created, diags := s.Protocol(t, "").Apply(t.Context(), domainType, attributes("example.com", nil), nil)
		config := attributes("example.com", map[string]any{"auto_renew": true})
		p := s.Protocol(t, "") // a new process has an empty cache
		p.NoErrors(diags)
		plan, diags := p.Plan(domainType, config, created)
		p.NoErrors(diags)
		if err := s.Client.DeleteDomain(t.Context(), "example.com"); err != nil {
			t.Fatal(err)
		}
		o, diags := p.ApplyPlan(t.Context(), domainType, config, created, plan)
		acctest.Expect(t, diags, "ERROR", "Can't update the domain example.com", "HTTP 404", "run apply again: the next plan creates it again")
		if o.Text("id") != created.Text("id") {
			t.Errorf("the state has %s", o.State)
		}
		gone, diags := p.Read(domainType, o)
		p.NoErrors(diags)
		if !gone.Gone() {
			t.Errorf("it is still in the state: %s", gone.State)
		}
		again, diags := p.Apply(t.Context(), domainType, config, nil)
		p.NoErrors(diags)
		if id := again.Text("id"); id == "" || id == created.Text("id") {
			t.Errorf("bought again it is %s", id)
		}
	})
}

// get reads a domain of the account.
func get(t *testing.T, s *acctest.Server, name string) *api.Domain {
	t.Helper()
	d, err := s.Client.GetDomain(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
