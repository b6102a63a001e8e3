package provider_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestFailedUpdate refuses each request of an update: the apply fails with the API's status, the
// state keeps what it had, and the next apply makes the change.
func TestFailedUpdate(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	all := everyKind(t, s)
	for typeName, changes := range map[string]values{
		"mailhost_domain":          {"auto_renew": true},
		"mailhost_mailbox":         {"first_name": "Joan"},
		"mailhost_dns_record":      {"ttl": 600},
		"mailhost_dns_zone":        {"records": values{"web A": values{"values": []string{"192.0.2.2"}}}},
		"mailhost_forwarding":      {"target_email": "joan@example.org"},
		"mailhost_master_password": {"name": "Migration"},
	} {
		p := s.Protocol(t, "")
		o, diags := p.Apply(t.Context(), typeName, all[typeName].config, nil)
		p.NoErrors(diags)
		config := merged(all[typeName].config, changes)
		plan, diags := p.Plan(typeName, config, o)
		p.NoErrors(diags)
		s.Fault(t, fault.Rule{Operation: fault.Any, Status: 403})
		failed, diags := p.ApplyPlan(t.Context(), typeName, config, o, plan)
		acctest.Expect(t, diags, "ERROR", "403")
		assert.Check(t, failed.State.Equal(o.State), "%s: the state is %s after a failure, it was %s", typeName, failed.State, o.State)
		s.Control.Faults.Clear()
		o, diags = p.Apply(t.Context(), typeName, config, failed)
		p.NoErrors(diags)
		_, diags = p.Destroy(t.Context(), typeName, o)
		p.NoErrors(diags)
	}
}
