package dedicatedip

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// Schema implements resource.Resource. All that the API tells is stable: it has
// no operation that changes a dedicated IP.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A dedicated IP address that the account's mail leaves from. Creating it **claims** an address out of an option, which is paid for; destroying it gives the address back, and with it the reputation that it has earned. " +
			"Use `lifecycle { prevent_destroy = true }` for an address that is in use.",
		Attributes: map[string]schema.Attribute{
			"option_id": schema.StringAttribute{
				Required:   true,
				CustomType: customtype.UUIDType{Lenient: true},
				Validators: []validator.String{customtype.UUIDType{}.Validator()},
				PlanModifiers: []planmodifier.String{
					service.KeepEqual(customtype.Equal[customtype.UUID]),
					stringplanmodifier.RequiresReplaceIf(replaceKnown, replaceWhy, replaceWhy),
				},
				MarkdownDescription: "UUID of the option that the address is claimed out of: the kind and the place of the address. Changing it claims another address and gives this one back. " +
					"The API does not tell it of an address that exists, so an import leaves it null, and the next apply stores what the configuration says.",
			},
			"id":           stable("UUID of the dedicated IP."),
			"name":         stable("Name of the dedicated IP."),
			"status":       stable("State of the dedicated IP: provisioning, active or releasing."),
			"type":         stable("Type of the allocation."),
			"country_code": stable("Country of the address (ISO 3166)."),
			"asn": schema.Int64Attribute{
				Computed: true, PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
				MarkdownDescription: "Number of the autonomous system that announces the address.",
			},
			"ip_addresses": schema.ListNestedAttribute{
				Computed: true, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
				MarkdownDescription: "Addresses, with their health as of the last refresh.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"ip":               schema.StringAttribute{Computed: true, MarkdownDescription: "The public address."},
					"fcrdns_confirmed": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether its forward-confirmed reverse DNS passed."},
					"healthy":          schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it is healthy; null where that is not known."},
					"rdns":             schema.StringAttribute{Computed: true, MarkdownDescription: "Its host name in reverse DNS, if it has one."},
				}},
			},
			"created_at": stable("When the dedicated IP was claimed (RFC 3339)."),
			"updated_at": stable("When the dedicated IP was last changed (RFC 3339)."),
			"timeouts":   service.CreateTimeout(ctx, createTimeout),
		},
	}
}

const replaceWhy = "replaces the dedicated IP when the option changes that it is known to come from"

// replaceKnown: an imported address comes from an option that nobody tells. It is
// taken at its owner's word and never given back for that.
func replaceKnown(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

// stable is an attribute that no update changes.
func stable(description string) schema.Attribute {
	return schema.StringAttribute{
		Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		MarkdownDescription: description,
	}
}
