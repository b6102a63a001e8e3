package service

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// ConfirmTargets sends the targets of pending forwarding rules again if the same apply has created mailboxes with
// these addresses after the rules, so that the rules need no confirmation.
func ConfirmTargets(ctx context.Context, c *client.Client, walk *session.Walk, addresses []string, diags *diag.Diagnostics) {
	type rule struct{ id, target string }
	var rules []rule
	for _, address := range addresses {
		if canonical, err := customtype.EmailAddress.Normalize(address); err == nil {
			for _, id := range walk.CreateAddress(canonical) {
				rules = append(rules, rule{id, address})
			}
		}
	}
	var mu sync.Mutex // guards diags
	client.Parallel(c, rules, func(r rule) {
		var warnings diag.Diagnostics
		ConfirmTarget(ctx, c, "forwarding rule to "+r.target+" with the id "+r.id, r.id, r.target, &warnings)
		mu.Lock()
		defer mu.Unlock()
		diags.Append(warnings...)
	})
}

// ConfirmTarget sends the target of a pending rule again. It returns nil after a failure, of which it warns.
func ConfirmTarget(ctx context.Context, c *client.Client, label, id, target string, diags *diag.Diagnostics) *api.Forwarding {
	f, err := c.UpdateForwarding(ctx, id, api.UpdateForwardingBody{TargetEmail: target})
	if err == nil {
		return f
	}
	if !client.IsNotFound(err) {
		diags.AddWarning("The "+label+" forwards no mail", report.Paragraphs(
			"The same apply has created "+target+" and the rule, which waits for a confirmation that an address of the account does not need. The provider could not send its target again. "+report.Sentence(err.Error()),
			"Invoke the action mailhost_resend_forwarding_verification with forwarding_id = \""+id+"\", or replace the rule with terraform apply -replace. It then forwards mail at once."))
	}
	return nil
}
