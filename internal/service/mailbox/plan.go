package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

func (r *Resource) ModifyPlan(ctx context.Context, plan, state model, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.State.Raw.IsNull():
		r.planCreate(ctx, plan, &resp.Diagnostics)
	case r.WillOrphan(ctx, req, resp):
	case resp.Plan.Raw.IsNull():
		// The summary contains the address, because the CLI shows one of several warnings with the same summary.
		resp.Diagnostics.AddWarning("The plan deletes the "+state.String()+" with its mail",
			"Its mail is lost, and somebody else in the account can use its address. "+
				"To keep the mailbox and only remove it from the state, use a removed block with destroy = false (or terraform state rm) instead.")
	case service.DestroysOrReplaces(resp):
		service.WarnReplace(&resp.Diagnostics, state.String(),
			"An address can't be changed: another domain or local_part creates a new mailbox and deletes this one.",
			"The mail in it is lost.")
	}
}

// planCreate reports in the plan of a new mailbox an existing mailbox with its address. All mailboxes
// that a plan creates in a domain share one list.
func (r *Resource) planCreate(ctx context.Context, plan model, diags *diag.Diagnostics) {
	domain := plan.Domain.ValueString()
	c := r.ClientIfOpen(ctx)
	if c == nil || plan.Domain.IsUnknown() || plan.LocalPart.IsUnknown() || r.CreatesDomain(domain) {
		return
	}
	localPart := func(s string) string { part, _ := customtype.LocalPart.Normalize(s); return part }
	found := service.FindListed(r.Notes(), domain, c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: domain}),
		func(m *api.Mailbox) string { return localPart(m.LocalPart) }, localPart(plan.LocalPart.ValueString()),
		func(m *api.Mailbox) bool { return customtype.RefersTo(domain, m.DomainID, m.DomainName) }) // an API may ignore the filter
	if found == nil {
		return
	}
	e := r.DescribeExisting(ctx, found, plan, found.PrimaryEmail)
	e.Label = "mailbox " + found.PrimaryEmail
	if found.Status == vocab.MailboxDeleting {
		e.Note = "Its status is deleting: it will disappear with its mail, and a later plan creates it again."
	}
	r.AdoptOrRefuse(diags, plan.OnExisting, e)
}

// plannedValues returns the address of a new mailbox.
func plannedValues(of attribute.Raw, _ string) map[string]attr.Value {
	domain := of.DomainName()
	if domain == "" {
		return nil
	}
	values := map[string]attr.Value{"domain_name": types.StringValue(domain)}
	if part, err := customtype.LocalPart.Normalize(of.Text("local_part")); err == nil {
		values["primary_email"] = types.StringValue(part + "@" + domain)
	}
	return values
}
