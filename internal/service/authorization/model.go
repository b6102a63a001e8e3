package authorization

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// model has the attributes of an authorization.
type model struct {
	ID            types.String `tfsdk:"id"`
	GrantKind     types.String `tfsdk:"grant_kind"`
	SubjectType   types.String `tfsdk:"subject_type"`
	SubjectID     types.String `tfsdk:"subject_id"`
	CapabilityKey types.String `tfsdk:"capability_key"`
	ResourceType  types.String `tfsdk:"resource_type"`
	ResourceID    types.String `tfsdk:"resource_id"`
	CreatedAt     types.String `tfsdk:"created_at"`
	RevokedAt     types.String `tfsdk:"revoked_at"`
}

// modelAttributes returns the attributes of model.
func modelAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "UUID of the authorization.",
		},
		"grant_kind": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "What is granted: `account_owner` and `super_admin` have every permission in the account, `capability` is one permission.",
		},
		"subject_type": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Type of the subject that has the grant: `user`, `group` or `service_account`.",
		},
		"subject_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Id of the subject: a service account's UUID, or the id of the user or group at the OAuth issuer.",
		},
		"capability_key": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "The permission of a `capability` grant, such as `mailbox.create`; null for the other kinds.",
		},
		"resource_type": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Type of the resource that a `capability` grant is restricted to: `workspace` or `domain`; null for the whole account.",
		},
		"resource_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "UUID of the workspace or domain that a `capability` grant is restricted to; null for the whole account.",
		},
		"created_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When it was granted (RFC 3339).",
		},
		"revoked_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When it was revoked (RFC 3339); null if it is not revoked.",
		},
	}
}

// flatten returns the model of an authorization.
func flatten(a *api.Authorization) model {
	return model{
		ID:            types.StringValue(a.ID),
		GrantKind:     types.StringValue(a.GrantKind),
		SubjectType:   types.StringValue(a.SubjectType),
		SubjectID:     types.StringValue(a.SubjectID),
		CapabilityKey: types.StringPointerValue(a.CapabilityKey),
		ResourceType:  types.StringPointerValue(a.ResourceType),
		ResourceID:    types.StringPointerValue(a.ResourceID),
		CreatedAt:     types.StringPointerValue(a.CreatedAt),
		RevokedAt:     types.StringPointerValue(a.RevokedAt),
	}
}
