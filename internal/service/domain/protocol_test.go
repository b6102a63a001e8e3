package domain_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

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

// TestGoneBeforeTheUpdate deletes a domain between the plan and the apply: that is an error, and
// the domain stays in the state until the next refresh.
func TestGoneBeforeTheUpdate(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	created, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)
	config := attributes("example.com", map[string]any{"auto_renew": true})
	plan, diags := p.Walk().Plan(domainType, config, created)
	p.NoErrors(diags)
	assert.NilError(t, s.Client.DeleteDomain(t.Context(), "example.com"))
	o, diags := p.ApplyPlan(t.Context(), domainType, config, created, plan)
	acctest.Expect(t, diags, "ERROR", "Can't update the domain example.com", "HTTP 404", "run apply again: the next plan creates it again")
	assert.Check(t, o.Text("id") == created.Text("id"), "the state has %s", o.State)
}

// get reads a domain of the account.
func get(t *testing.T, s *acctest.Server, name string) *api.Domain {
	t.Helper()
	d, err := s.Client.GetDomain(t.Context(), name)
	assert.NilError(t, err)
	return d
}
