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
	if req.State.Raw.IsNull() {
		r.planCreate(ctx, plan, &resp.Diagnostics)
	}
}

// losses returns the losses of a planned change. An adoption and an update change names only.
func losses(ctx context.Context, ch service.Change[model]) []service.Loss {
	var l service.Loss
	switch ch.Fate {
	case service.Destroyed:
		l = ch.Ending("deletes", "the "+ch.Before.String()+" with its mail", service.Mail)
		l.Consequence = "Its mail is lost, and somebody else in the account can use its address."
	case service.Replaced:
		l = ch.Ending("", "the "+ch.Before.String(), service.Mail)
		l.Because = "An address can't be changed: another domain or local_part creates a new mailbox and deletes this one."
		l.Consequence = "The mail in it is lost."
	default:
		return nil
	}
	ch.EndRules(ctx, &l, "it", append(ch.Before.aliases(), ch.Before.address())...)
	return []service.Loss{l}
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
		func(*api.Mailbox) bool { return true })
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
