package authorization

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// record is what the API says of an authorization.
type record struct {
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

// recordAttributes are the attributes of record.
func recordAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "UUID of the authorization.",
		},
		"grant_kind": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "What is granted: `account_owner` and `super_admin` may do everything in the account, `capability` is one permission.",
		},
		"subject_type": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Who it is granted to: a `user`, a `group` or a `service_account`.",
		},
		"subject_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Id of the subject: a service account's UUID, or the user or group as the OAuth issuer names it.",
		},
		"capability_key": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "The permission of a `capability` grant, such as `mailbox.create`; null for the other kinds.",
		},
		"resource_type": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "What a `capability` grant is narrowed to: a `workspace` or a `domain`; null where it holds for the whole account.",
		},
		"resource_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "UUID of the workspace or domain that a `capability` grant is narrowed to; null where it holds for the whole account.",
		},
		"created_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When it was granted (RFC 3339).",
		},
		"revoked_at": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "When it was revoked (RFC 3339); null while it is in force.",
		},
	}
}

// recordOf takes over what the API says of an authorization.
func recordOf(a *api.Authorization) record {
	return record{
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
