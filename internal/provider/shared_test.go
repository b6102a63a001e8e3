package provider_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// kinds has two configurations of every resource: one that creates, and one for the same
// object at a second address.
func kinds(accountID string) map[string][2]map[string]any {
	contact := map[string]any{
		"first_name": "Zoë", "last_name": "Doe", "organization": "Example", "email": "zoe@example.org", "phone": "+4930123456",
		"address_1": "Weg 1", "zip": "10115", "city": "Berlin", "state": "BE", "country": "DE",
	}
	with := func(config map[string]any, name string, value any) [2]map[string]any {
		other := maps.Clone(config)
		other[name] = value
		return [2]map[string]any{config, other}
	}
	option := api.DerivedID(accountID, "dedicated-ip-option:eu")
	return map[string][2]map[string]any{
		"mailhost_domain":          with(map[string]any{"name": "acme.com", "contact_info": contact}, "name", "ACME.com."),
		"mailhost_mailbox":         with(map[string]any{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}, "first_name", "Joan"),
		"mailhost_dns_record":      with(map[string]any{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}, "ttl", 600),
		"mailhost_dns_zone":        with(map[string]any{"domain": "example.com", "records": map[string]any{"web A": map[string]any{"values": []string{"192.0.2.1"}}}, "ignore": []string{"www"}}, "domain", "EXAMPLE.com."),
		"mailhost_forwarding":      with(map[string]any{"target_email": "jane@example.org"}, "target_email", "joan@example.org"),
		"mailhost_master_password": with(map[string]any{"name": "Backup", "generate": true}, "name", "Migration"),
		"mailhost_service_account": with(map[string]any{"name": "ci"}, "name", "cd"),
		"mailhost_dedicated_ip":    with(map[string]any{"option_id": option}, "timeouts", map[string]any{"create": "5m"}),
	}
}

// TestTerraformTest runs the steps of a test file with one configured provider: a plan, an
// apply, another plan and the destroy.
func TestTerraformTest(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for typeName, config := range kinds(s.AccountID) {
		p := s.Protocol(t, "").TestFile()
		for range 2 {
			for _, c := range config {
				_, diags := p.Plan(typeName, c, nil)
				p.NoErrors(diags)
			}
			o, diags := p.Apply(t.Context(), typeName, config[0], nil)
			p.NoErrors(diags)
			for _, c := range config {
				_, diags = p.Plan(typeName, c, o)
				for _, d := range diags {
					if strings.HasPrefix(d.Summary, "Two resources") {
						t.Errorf("%s: %s", typeName, d.Summary)
					}
				}
				p.NoErrors(diags)
			}
			o, diags = p.Read(typeName, o)
			p.NoErrors(diags)
			_, diags = p.Apply(t.Context(), typeName, nil, o)
			p.NoErrors(diags)
		}
	}
}

// TestTwoResourcesWithOneObject checks that a plan in which one resource releases an
// object that another one uses is an error, in both orders and for each resource. Such
// plans come from a rename of an imported object without a moved block, a duplicate in the
// state, and a deposed duplicate.
func TestTwoResourcesWithOneObject(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for typeName, config := range kinds(s.AccountID) {
		p := s.Protocol(t, "")
		o, diags := p.Apply(t.Context(), typeName, config[0], nil)
		p.NoErrors(diags)
		keep := func() []*tfprotov6.Diagnostic { _, d := p.Plan(typeName, config[1], o); return d }
		keepToo := func() []*tfprotov6.Diagnostic { _, d := p.Plan(typeName, config[0], o); return d }
		destroy := func() []*tfprotov6.Diagnostic { _, d := p.Plan(typeName, nil, o); return d }
		replace := func() []*tfprotov6.Diagnostic { _, d := p.PlanReplacement(typeName, config[0], o); return d }
		for name, calls := range map[string][2]func() []*tfprotov6.Diagnostic{
			"keep, destroy": {keep, destroy}, "destroy, keep": {destroy, keep},
			"replace, keep": {replace, keep}, "keep, replace": {keep, replace},
		} {
			if (typeName == "mailhost_domain" || typeName == "mailhost_dns_zone") && (name == "replace, keep" || name == "keep, replace") {
				continue // neither is replaced by itself
			}
			p.Together()
			p.NoErrors(calls[0]())
			t.Log(typeName, name)
			acctest.Expect(t, calls[1](), "ERROR: Two resources have the ", o.Text("id"), "moved block", "removed block with lifecycle { destroy = false }", "deposed")
		}
		p.Together()
		p.NoErrors(keepToo())
		for _, d := range keepToo() { // Terraform may plan a resource twice
			t.Errorf("%s: the same plan again: %s: %s", typeName, d.Summary, d.Detail)
		}
		acctest.Expect(t, keep(), "WARNING: Two resources manage the ", o.Text("id"))
		if gone, _ := p.Walk().Read(typeName, o); gone.Gone() {
			t.Errorf("%s was deleted", typeName)
		}
	}
}

// TestDeleteOfAcquired checks that a run does not delete an object that it acquired: a
// deposed object after a create that adopted it.
func TestDeleteOfAcquired(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for typeName, config := range kinds(s.AccountID) {
		p := s.Protocol(t, "").Together()
		plan, diags := p.Plan(typeName, config[0], nil)
		p.NoErrors(diags)
		o, diags := p.ApplyPlan(t.Context(), typeName, config[0], nil, plan)
		p.NoErrors(diags)
		destroy, _ := p.Plan(typeName, nil, o)
		kept, diags := p.ApplyPlan(t.Context(), typeName, nil, o, destroy)
		t.Log(typeName)
		acctest.Expect(t, diags, "ERROR: The ", " was not deleted", "Nothing was deleted", o.Text("id"), "create_before_destroy")
		if kept.Gone() {
			t.Errorf("%s: the state lost it", typeName)
		}
		if read, _ := p.Walk().Read(typeName, o); read.Gone() {
			t.Errorf("%s was deleted", typeName)
		}
		_, diags = p.Apply(t.Context(), typeName, nil, o) // another run may delete it
		p.NoErrors(diags)
	}
}
