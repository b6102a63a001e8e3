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
	attributes := recordAttributes()
	attributes["contact_info"] = contactAttribute()
	attributes["on_existing"] = schema.StringAttribute{
		Optional:   true,
		Validators: []validator.String{stringvalidator.OneOf(adoption, refusal)},
		MarkdownDescription: "What a create does with a domain that the account owns already: `adopt` takes it over and buys nothing, `error` refuses it, in the plan already. Default: `adopt`. " +
			"It has no effect on a domain that is in the state.",
	}
	attributes["acquisition"] = schema.StringAttribute{
		Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		MarkdownDescription: "How Terraform came by the domain: `purchase`, or `adopt` for one that the account owned already, an imported one included. The plan of a new domain knows it if it knows the `name`, " +
			"and the apply does only that. Null for a domain that an earlier version of the provider created.",
	}
	attributes["timeouts"] = service.CreateTimeout(ctx, createTimeout)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A domain of the account. Creating it **buys** the domain, unless the account owns it already: then it is adopted and nothing is bought. The plan says which of the two, the price where the API has one, and the settings that an adoption changes. " +
			"Destroying it deletes the domain with its DNS records, which the API refuses while it has mailboxes; what was paid is not paid back. " +
			"Use `lifecycle { prevent_destroy = true }` for a domain that matters.\n\n" +
			"A domain is never replaced by itself: `-replace`, `replace_triggered_by` and a tainted domain are errors in the plan (but for one that the registry refused), because they would delete the domain and buy the same name again, or, with `create_before_destroy`, adopt the domain and then delete it. " +
			"If you rename the resource, add a `moved` block. " +
			"If a saved plan is applied after the domain has come to or left the account, the apply stops before it buys anything: plan again.",
		Attributes: attributes,
	}
}

// recordAttributes are the attributes of record. What ModifyPlan has to plan as
// unknown is stable here as well: it knows when.
func recordAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required:      true,
			CustomType:    customtype.DomainNameType{},
			Validators:    []validator.String{customtype.DomainNameType{}.Validator()},
			PlanModifiers: []planmodifier.String{service.KeepEqual(customtype.Equal[customtype.DomainName]), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Name of the domain, such as `example.com`. Upper and lower case, a trailing dot, and Unicode or ASCII (IDNA) are the same. " +
				"Changing it replaces the domain: another one is bought and this one is deleted.",
		},
		"workspace_id": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType:    customtype.UUIDType{},
			Validators:    []validator.String{customtype.UUIDType{}.Validator()},
			PlanModifiers: []planmodifier.String{service.KeepEqual(customtype.Equal[customtype.UUID]), stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "UUID of the workspace that the domain is in. Default: the account's default workspace for a domain that is bought, and where it is for one that is adopted. " +
				"Changing it moves the domain; removing it leaves the domain where it is.",
		},
		"auto_renew": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "Whether the registration is renewed by itself. Default: `false`, also for a domain that is adopted or imported.",
		},
		"redirect_url": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.RedirectURLType{},
			Validators:          []validator.String{customtype.RedirectURLType{}.Validator(), validate.Length[api.UpdateDomainBody]("redirect_url")},
			PlanModifiers:       []planmodifier.String{service.KeepEqual(customtype.Equal[customtype.RedirectURL])},
			MarkdownDescription: "Where the domain's web traffic is redirected to, an absolute http or https URL. Removing it ends the redirect.",
		},
		"id":     stable("UUID of the domain."),
		"status": stable("State of the domain: pending_payment, pending, active or failed."),
		"outbound_routing_ready": schema.BoolAttribute{
			Computed: true, PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Whether mail can be sent from the domain.",
		},
		"dedicated_ip_id":            stable("UUID of the dedicated IP that the domain's mail leaves from, if one is assigned."),
		"inbound_tenant_id":          stable("UUID of the tenant that takes the domain's incoming mail, if one is assigned."),
		"inbound_tenant_external_id": stable("Id that the tenant of `inbound_tenant_id` has at its own provider."),
		"inbound_tenant_name":        stable("Name of the tenant of `inbound_tenant_id`."),
		"inbound_tenant_type":        stable("Type of the tenant of `inbound_tenant_id`."),
		"redirect_mode":              stable("How web traffic is redirected: 301, 302 or iframe; null without a redirect."),
		"tags": schema.ListNestedAttribute{
			Computed: true, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Labels of the domain.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"id":   schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the label."},
				"name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name of the label."},
			}},
		},
		"created_at": stable("When the domain came into the account (RFC 3339)."),
		"updated_at": stable("When the domain was last changed (RFC 3339)."),
	}
}

// stable is an attribute that an update leaves alone.
func stable(description string) schema.Attribute {
	return schema.StringAttribute{
		Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		MarkdownDescription: description,
	}
}
