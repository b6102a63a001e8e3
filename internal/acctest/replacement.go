package acctest

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// ApplyReplacement replaces an object as Terraform does without
// create_before_destroy: it plans, destroys the object and then creates its
// successor. It returns the successor and the diagnostics of both applies. An error
// ends the test.
func (p *Protocol) ApplyReplacement(ctx context.Context, typeName string, config map[string]any, prior *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	plan, diags := p.Walk().PlanReplacement(typeName, config, prior)
	p.NoErrors(diags)
	_, all := p.ApplyPlan(ctx, typeName, nil, prior, &Object{State: p.Gone(typeName), Private: plan.Private, Identity: prior.Identity})
	p.NoErrors(all)
	o, diags := p.ApplyPlan(ctx, typeName, config, nil, plan)
	p.NoErrors(diags)
	return o, append(all, diags...)
}

// Destroy plans and applies the destruction of an object. The diagnostics are those of
// the plan and then of the apply.
func (p *Protocol) Destroy(ctx context.Context, typeName string, o *Object) (*Object, []*tfprotov6.Diagnostic) {
	p.t.Helper()
	plan, all := p.Walk().Plan(typeName, nil, o)
	p.NoErrors(all)
	gone, diags := p.ApplyPlan(ctx, typeName, nil, o, plan)
	return gone, append(all, diags...)
}

// Gone is the state of an object that is destroyed.
func (p *Protocol) Gone(typeName string) tftypes.Value { return p.null(typeName) }

// Sent returns the ids of the operations that the server has processed since the
// journal was cleared and that change something, in order.
func (s *Server) Sent() []string {
	var ids []string
	for _, e := range s.Control.Journal.Entries(journal.Filter{}) {
		if e.Method != http.MethodGet {
			ids = append(ids, e.Operation)
		}
	}
	return ids
}
