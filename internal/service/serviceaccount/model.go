package serviceaccount

import (
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// resourceModel is the model of the resource: model, and what only the configuration and
// the state have.
type resourceModel struct {
	model

	ValidFor         types.String `tfsdk:"valid_for"`
	RotateBefore     types.String `tfsdk:"rotate_before"`
	RotationTriggers types.Map    `tfsdk:"rotation_triggers"`
	Token            types.String `tfsdk:"token"`
}

// model has the attributes of a service account in the API, without its token. The data
// sources return it.
type model struct {
	ID              types.String      `tfsdk:"id"`
	AccountID       types.String      `tfsdk:"account_id"`
	Name            types.String      `tfsdk:"name"`
	ExpiresAt       customtype.String `tfsdk:"expires_at"`
	TokenLast4      types.String      `tfsdk:"token_last4"`
	TokenPrefix     types.String      `tfsdk:"token_prefix"`
	TokenPublicID   types.String      `tfsdk:"token_public_id"`
	CreatedAt       types.String      `tfsdk:"created_at"`
	UpdatedAt       types.String      `tfsdk:"updated_at"`
	CreatedByUserID types.String      `tfsdk:"created_by_user_id"`
	LastUsedAt      types.String      `tfsdk:"last_used_at"`
	RevokedAt       types.String      `tfsdk:"revoked_at"`
	RevokedByUserID types.String      `tfsdk:"revoked_by_user_id"`
}

// label names the service account in messages.
func (m model) label() string {
	if m.Name.ValueString() != "" {
		return "service account " + strconv.Quote(m.Name.ValueString())
	}
	return "service account " + m.ID.ValueString()
}

// flatten sets the model from the service account.
func (m *model) flatten(a *api.ServiceAccount) {
	m.ID = types.StringValue(a.ID)
	m.AccountID = types.StringValue(a.AccountID)
	m.Name = types.StringValue(a.Name)
	m.ExpiresAt = customtype.NewPointer(a.ExpiresAt)
	m.TokenLast4 = types.StringValue(a.TokenLast4)
	m.TokenPrefix = types.StringValue(a.TokenPrefix)
	m.TokenPublicID = types.StringValue(a.TokenPublicID)
	m.CreatedAt = types.StringValue(a.CreatedAt)
	m.UpdatedAt = types.StringValue(a.UpdatedAt)
	m.CreatedByUserID = types.StringPointerValue(a.CreatedByUserID)
	m.LastUsedAt = types.StringPointerValue(a.LastUsedAt)
	m.RevokedAt = types.StringPointerValue(a.RevokedAt)
	m.RevokedByUserID = types.StringPointerValue(a.RevokedByUserID)
}

// imported reports whether the service account was imported, so that its token is
// unknown: the API returns a token only once.
func (m resourceModel) imported() bool { return m.Token.IsNull() }

// past reports whether a time is set, known and not after now.
func past(t customtype.String, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, t.ValueString())
	return err == nil && !at.After(now)
}
