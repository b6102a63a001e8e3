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

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := recordAttributes()
	attributes["option_id"] = optionAttribute()
	attributes["timeouts"] = service.CreateTimeout(ctx, createTimeout)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A dedicated IP address that the account's mail leaves from. Creating it **claims** an address out of an option, which is paid for; destroying it gives the address back, and with it the reputation that it has earned. " +
			"Use `lifecycle { prevent_destroy = true }` for an address that is in use.",
		Attributes: attributes,
	}
}

// recordAttributes are the attributes of record. All of them are stable: the API
// has no operation that changes a dedicated IP.
func recordAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
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
	}
}

// optionAttribute is the schema of option_id. It is computed so that one that is
// left out keeps what the state knows; only a claim needs it, see requireOption.
func optionAttribute() schema.Attribute {
	return schema.StringAttribute{
		Optional: true, Computed: true,
		CustomType: customtype.UUIDType{},
		Validators: []validator.String{customtype.UUIDType{}.Validator()},
		PlanModifiers: []planmodifier.String{
			service.KeepEqual(customtype.Equal[customtype.UUID]),
			stringplanmodifier.UseStateForUnknown(),
			stringplanmodifier.RequiresReplaceIf(replaceKnown, replaceWhy, replaceWhy),
		},
		MarkdownDescription: "UUID of the option that the address is claimed out of: the kind and the place of the address. The data source `mailhost_dedicated_ip_options` lists the options. " +
			"Required to claim an address, that is unless the address is imported; removing it later changes nothing. Another option claims another address and gives this one back. " +
			"The API does not tell the option of an address that exists, so an import leaves it null; what the configuration says is then stored, and nothing is replaced.",
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
