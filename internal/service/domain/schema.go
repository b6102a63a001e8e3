package domain

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := modelAttributes()
	attributes["contact_info"] = contactAttribute()
	attributes["on_existing"] = schema.StringAttribute{
		Optional:   true,
		Validators: []validator.String{stringvalidator.OneOf(onExistingAdopt, onExistingError)},
		MarkdownDescription: "What a create does with a domain that the account owns already: `adopt` manages it without buying anything, `error` makes the plan fail. Default: `adopt`. " +
			"It has no effect on a domain that is in the state.",
	}
	attributes["acquisition"] = service.StableString("How Terraform got the domain: `purchase`, or `adopt` for a domain that the account owned already, including an imported one. The plan of a new domain shows it if the `name` is known, " +
		"and the apply does nothing else. Null for a domain that an earlier version of the provider created.")
	attributes["timeouts"] = service.CreateTimeout(ctx, createTimeout)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A domain of the account. Creating it **buys** the domain. If the account owns the domain already, it is adopted and nothing is bought. The plan shows which of the two will happen, the price if the API returns one, and the settings that an adoption changes.\n\n" +
			"Destroying it deletes the domain with its DNS records. The API refuses that while the domain has mailboxes, and there is no refund. " +
			"Use `lifecycle { prevent_destroy = true }` for a domain that matters.\n\n" +
			"A domain is never replaced by itself: `-replace`, `replace_triggered_by` and a tainted domain are errors in the plan (except for a domain that the registry refused), because they would delete the domain and buy the same name again or, with `create_before_destroy`, adopt the domain and then delete it. " +
			"If you rename the resource, add a `moved` block. " +
			"If you apply a saved plan after the domain was added to or removed from the account, the apply stops before it buys anything: plan again.",
		Attributes: attributes,
	}
}

// modelAttributes returns the attributes of model. Those that ModifyPlan may plan as
// unknown are stable here too.
func modelAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required:      true,
			CustomType:    customtype.DomainName,
			Validators:    []validator.String{customtype.DomainName.Validator()},
			PlanModifiers: []planmodifier.String{service.KeepEqual(customtype.DomainName.Same), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Name of the domain, such as `example.com`. Upper and lower case, a trailing dot, and Unicode or ASCII (IDNA) are the same. " +
				"Changing it replaces the domain: another domain is bought and this one is deleted.",
		},
		"workspace_id": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType:    customtype.UUID,
			Validators:    []validator.String{customtype.UUID.Validator()},
			PlanModifiers: []planmodifier.String{service.KeepEqual(customtype.UUID.Same), stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "UUID of the workspace that the domain is in. Default: the account's default workspace for a purchase, and the current workspace for an adoption. " +
				"Changing it moves the domain; removing it leaves the domain where it is.",
		},
		"auto_renew": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "Whether the registration is renewed automatically. Default: `false`, also for a domain that is adopted or imported.",
		},
		"redirect_url": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.RedirectURL,
			Validators:          []validator.String{customtype.RedirectURL.Validator(), validate.Length[api.UpdateDomainBody]("redirect_url")},
			PlanModifiers:       []planmodifier.String{service.KeepEqual(customtype.RedirectURL.Same)},
			MarkdownDescription: "Where the domain's web traffic is redirected to, an absolute http or https URL. Removing it ends the redirect.",
		},
		"id":     service.StableString("UUID of the domain."),
		"status": service.StableString("State of the domain: pending_payment, pending, active or failed."),
		"outbound_routing_ready": schema.BoolAttribute{
			Computed: true, PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Whether mail can be sent from the domain.",
		},
		"dedicated_ip_id":            service.StableString("UUID of the dedicated IP that sends the domain's mail, if one is assigned."),
		"inbound_tenant_id":          service.StableString("UUID of the tenant that receives the domain's incoming mail, if one is assigned."),
		"inbound_tenant_external_id": service.StableString("Id of the tenant of `inbound_tenant_id` at its own provider."),
		"inbound_tenant_name":        service.StableString("Name of the tenant of `inbound_tenant_id`."),
		"inbound_tenant_type":        service.StableString("Type of the tenant of `inbound_tenant_id`."),
		"redirect_mode":              service.StableString("How web traffic is redirected: 301, 302 or iframe; null without a redirect."),
		"tags": schema.ListNestedAttribute{
			Computed: true, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Labels of the domain.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"id":   schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the label."},
				"name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the label."},
			}},
		},
		"created_at": service.StableString("When the domain was added to the account (RFC 3339)."),
		"updated_at": service.StableString("When the domain was last changed (RFC 3339)."),
	}
}
