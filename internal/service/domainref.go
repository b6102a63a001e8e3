package service

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// KeepDomainRef plans to keep a prior reference to a domain where the
// configuration names the same domain by its other form: by name for by id, or
// in another spelling. The resource must have the attributes domain_id and
// domain_name. Put it before RequiresReplace.
func KeepDomainRef() planmodifier.String { return keepDomainRef{} }

type keepDomainRef struct{}

func (keepDomainRef) Description(context.Context) string {
	return "keeps the prior reference to the same domain"
}

func (k keepDomainRef) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (keepDomainRef) PlanModifyString(ctx context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if req.StateValue.IsNull() || req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	var id, name types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("domain_id"), &id)...)
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("domain_name"), &name)...)
	if customtype.RefersTo(req.ConfigValue.ValueString(), id.ValueString(), name.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
