package domain

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const description = "A domain of the account. Creating it **buys** the domain. If the account owns the domain already, the plan fails, or adopts it with `on_existing = \"adopt\"`, and nothing is bought. The plan shows the price if the API returns one, and the settings that an adoption changes. " +
	"A plan of a new domain fails while the domain or its price can't be looked up because of an outage, so that no saved plan buys what it has not shown.\n\n" +
	"Destroying it deletes the domain with its DNS records. The API refuses that while the domain has mailboxes, and there is no refund. " +
	"Use `lifecycle { prevent_destroy = true }` for a domain that matters.\n\n" +
	"A domain is never replaced by itself: `-replace`, `replace_triggered_by` and a tainted domain are errors in the plan (except for a domain that the registry refused), because they would delete the domain and buy the same name again. " +
	"If you rename the resource, add a `moved` block. " +
	"If you apply a saved plan after the domain was added to or removed from the account, the apply stops before it buys anything: plan again."

// settings returns the attributes that the API does not return.
func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"contact_info": contactAttribute(),
		"on_existing":  service.OnExisting("the domain in the account", "changes its settings, without buying anything"),
		"acquisition": service.ComputedString("How Terraform got the domain: `purchase`, or `adopt` for a domain that the account owned already, including an imported one. The plan of a new domain shows it if the `name` is known, " +
			"and the apply does nothing else. Null for a domain that an earlier version of the provider created."),
		"purchase_price": service.ComputedString("The price that the plan of the purchase has shown, such as `12.00 USD`. If it is another one when the plan is applied, the apply stops before it buys anything. " +
			"Null for a domain that was not bought, and for an API that returns the price only with the purchase."),
	}
}

// attributes returns the attributes that the API returns. None is volatile, because
// ModifyPlan plans those that an update changes.
func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required:      true,
			CustomType:    customtype.DomainName,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Name of the domain, such as `example.com`. Upper and lower case, a trailing dot, and Unicode or ASCII (IDNA) are the same. " +
				"Changing it replaces the domain: another domain is bought and this one is deleted.",
		},
		"workspace_id": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType:    customtype.UUID,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "UUID of the workspace that the domain is in. Default: the account's default workspace for a purchase, which the plan shows, and the current workspace for an adoption. " +
				"Changing it moves the domain; removing it leaves the domain where it is.",
		},
		"auto_renew": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "Whether the registration is renewed automatically. Default: `false`, also for a domain that is adopted or imported.",
		},
		"redirect_url": schema.StringAttribute{
			Optional:            true,
			CustomType:          customtype.RedirectURL,
			Validators:          []validator.String{validate.Length[api.UpdateDomainBody]("redirect_url")},
			MarkdownDescription: "Where the domain's web traffic is redirected to, an absolute http or https URL. Removing it ends the redirect.",
		},
		"id":     service.ComputedString("UUID of the domain."),
		"status": service.ComputedString("State of the domain: pending_payment, pending, active or failed."),
		"outbound_routing_ready": schema.BoolAttribute{
			Computed:            true,
			MarkdownDescription: "Whether mail can be sent from the domain.",
		},
		"dedicated_ip_id":            service.ComputedString("UUID of the dedicated IP that sends the domain's mail, if one is assigned."),
		"inbound_tenant_id":          service.ComputedString("UUID of the tenant that receives the domain's incoming mail, if one is assigned."),
		"inbound_tenant_external_id": service.ComputedString("Id of the tenant of `inbound_tenant_id` at its own provider."),
		"inbound_tenant_name":        service.ComputedString("Name of the tenant of `inbound_tenant_id`."),
		"inbound_tenant_type":        service.ComputedString("Type of the tenant of `inbound_tenant_id`."),
		"redirect_mode":              service.ComputedString("How web traffic is redirected: 301, 302 or iframe; null without a redirect."),
		"tags": schema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Labels of the domain.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"id":   service.ComputedString("UUID of the label."),
				"name": service.ComputedString("Name of the label."),
			}},
		},
		"created_at": service.ComputedString("When the domain was added to the account (RFC 3339)."),
		"updated_at": service.ComputedString("When the domain was last changed (RFC 3339)."),
	}
}
