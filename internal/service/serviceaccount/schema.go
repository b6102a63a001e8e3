package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const description = `A machine credential with a bearer token for the account's API. It may do what the credential that creates it may do, never more.

The API tells the token once, in its answer to the create; from then on it is kept in the state alone, so keep the state where only those can read it who may have the token.

There is no operation that changes a service account: another ` + "`name`, `expires_at`, `valid_for` or `rotation_triggers`" + ` replaces it, with a new token. So that whoever uses the token is never without one, set ` +
	"`lifecycle { create_before_destroy = true }`" + `: the new service account is there before the old one is revoked. Names need not be unique.

* Destroying revokes it: the token stops working at once. The provider's credential must have all that the service account may do, and the last owner of the account can't be revoked. The plan refuses to destroy or replace the service account whose token the provider itself authenticates with. An API without that operation leaves **a token that still works**; the provider warns of it.
* One that was revoked outside Terraform is as good as gone: it is dropped from the state with a warning, and the next apply makes a new one.
* One that has expired is replaced by the next apply where ` + "`valid_for`" + ` is set. With a fixed ` + "`expires_at`" + ` it stays in the state, with a warning on each refresh, until another ` + "`expires_at` or `rotation_triggers`" + ` replaces it.
* After an import the token is not known: ` + "`token`" + ` is null and stays so, and the first value of ` + "`valid_for` and `rotation_triggers`" + ` is only taken down.

For a token that lives no longer than one run, and in no state, use the ephemeral resource ` + "`mailhost_service_account_token`" + `.`

// Schema implements resource.Resource.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := recordAttributes()
	attributes["valid_for"] = schema.StringAttribute{
		Optional:   true,
		Validators: []validator.String{validate.Duration(minValidity, 0)},
		PlanModifiers: []planmodifier.String{
			service.KeepEqual(sameDuration), stringplanmodifier.RequiresReplaceIf(revalued, replaces, replaces),
		},
		MarkdownDescription: "How long the token works from the creation of the service account on, such as `2160h` for 90 days, at least `1m`, in place of a fixed `expires_at`. " +
			"One that has expired is replaced, with `rotate_before` in time. Another duration replaces the service account.",
	}
	attributes["rotate_before"] = schema.StringAttribute{
		Optional:   true,
		Validators: []validator.String{validate.Duration(minValidity, 0)},
		MarkdownDescription: "How long before the token expires the service account is replaced, such as `168h` for a week, at least `1m`: the first plan within that time replaces it, and with it the token. " +
			"Let Terraform run more often than that. It needs `valid_for`, and must be shorter. A change of it changes nothing else.",
	}
	attributes["rotation_triggers"] = schema.MapAttribute{
		Optional:            true,
		ElementType:         types.StringType,
		PlanModifiers:       []planmodifier.Map{mapplanmodifier.RequiresReplaceIf(triggered, replaces, replaces)},
		MarkdownDescription: "Any values; a change of one replaces the service account, and with it the token, for instance `{ quarter = \"2027-Q1\" }` or the output of a `time_rotating`.",
	}
	attributes["token"] = schema.StringAttribute{
		Computed: true, Sensitive: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		MarkdownDescription: "The bearer token; null after an import.",
	}
	resp.Schema = schema.Schema{MarkdownDescription: description, Attributes: attributes}
}

// recordAttributes are the attributes of record.
func recordAttributes() map[string]schema.Attribute {
	stable := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the service account.",
		},
		"account_id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the account.",
		},
		"name": schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.CreateServiceAccountBody]("name")},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Name of the service account, " + nameLength() + ". Another name replaces it.",
		},
		"expires_at": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType: customtype.TimestampType{},
			Validators: []validator.String{customtype.TimestampType{}.Validator()},
			// Where it is not configured, ModifyPlan plans it.
			PlanModifiers: []planmodifier.String{
				service.KeepEqual(customtype.Equal[customtype.Timestamp]), stringplanmodifier.RequiresReplaceIfConfigured(),
			},
			MarkdownDescription: "When the token stops working (RFC 3339), for instance `2027-01-01T00:00:00Z`; it must be in the future when the service account is created, and not after the provider's own credential expires. " +
				"Without it and `valid_for` the token expires with that credential, or never if that never does. Another time replaces the service account.",
		},
		"token_last4": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "Last four characters of the token.",
		},
		"token_prefix": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "Fixed beginning of the token.",
		},
		"token_public_id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "Part of the token that names it and is no secret.",
		},
		"created_at": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "When the service account was created (RFC 3339).",
		},
		"updated_at": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "When the service account was last changed (RFC 3339).",
		},
		"created_by_user_id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the user who created it; null where another service account did.",
		},
		"last_used_at": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "When the token was last used, to the minute and as of the last refresh (RFC 3339).",
		},
		"revoked_at": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "When the service account was revoked (RFC 3339). Null, for one that is revoked is dropped from the state.",
		},
		"revoked_by_user_id": schema.StringAttribute{
			Computed: true, PlanModifiers: stable,
			MarkdownDescription: "UUID of the user who revoked it.",
		},
	}
}

func nameLength() string {
	return validate.Length[api.CreateServiceAccountBody]("name").Description(context.Background())
}
