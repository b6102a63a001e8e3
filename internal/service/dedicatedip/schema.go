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
	attributes := modelAttributes()
	attributes["option_id"] = optionAttribute()
	attributes["timeouts"] = service.CreateTimeout(ctx, createTimeout)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A dedicated IP address for the account's outgoing mail. Creating it **claims** an address from an option, which costs money; destroying it releases the address together with the reputation that it has earned. " +
			"Use `lifecycle { prevent_destroy = true }` for an address that is in use.",
		Attributes: attributes,
	}
}

// modelAttributes returns the attributes of model. All of them are stable, because the
// API can't change a dedicated IP.
func modelAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":           service.StableString("UUID of the dedicated IP."),
		"name":         service.StableString("Name of the dedicated IP."),
		"status":       service.StableString("State of the dedicated IP: provisioning, active or releasing."),
		"type":         service.StableString("Type of the allocation."),
		"country_code": service.StableString("Country of the address (ISO 3166)."),
		"asn": schema.Int64Attribute{
			Computed: true, PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
			MarkdownDescription: "Number of the autonomous system that announces the address.",
		},
		"ip_addresses": schema.ListNestedAttribute{
			Computed: true, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Addresses, with their health at the last refresh.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"ip":               schema.StringAttribute{Computed: true, MarkdownDescription: "The public address."},
				"fcrdns_confirmed": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether its forward-confirmed reverse DNS passed."},
				"healthy":          schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether it is healthy; null if that is unknown."},
				"rdns":             schema.StringAttribute{Computed: true, MarkdownDescription: "Its host name in reverse DNS, if it has one."},
			}},
		},
		"created_at": service.StableString("When the dedicated IP was claimed (RFC 3339)."),
		"updated_at": service.StableString("When the dedicated IP was last changed (RFC 3339)."),
	}
}

// optionAttribute returns the schema of option_id. It is computed, so that the state
// keeps it when it is omitted. Only a claim requires it, see requireOption.
func optionAttribute() schema.Attribute {
	return schema.StringAttribute{
		Optional: true, Computed: true,
		CustomType: customtype.UUID,
		Validators: []validator.String{customtype.UUID.Validator()},
		PlanModifiers: []planmodifier.String{
			service.KeepEqual(customtype.UUID.Same),
			stringplanmodifier.UseStateForUnknown(),
			stringplanmodifier.RequiresReplaceIf(replaceKnown, replaceDescription, replaceDescription),
		},
		MarkdownDescription: "UUID of the option that the address is claimed from: its type and location. The data source `mailhost_dedicated_ip_options` lists the options. " +
			"Required to claim an address, but not to import one; removing it later changes nothing. Changing it claims another address and releases this one. " +
			"The API does not return the option of an existing address, so an import leaves it null; the configured value is then stored without replacing anything.",
	}
}

const replaceDescription = "replaces the dedicated IP if its known option changes"

// replaceKnown does not replace an imported address, because its option is unknown.
func replaceKnown(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}
