package serviceaccount

import (
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// model is the resource as Terraform keeps it.
type model struct {
	record

	ValidFor         types.String `tfsdk:"valid_for"`
	RotateBefore     types.String `tfsdk:"rotate_before"`
	RotationTriggers types.Map    `tfsdk:"rotation_triggers"`
	Token            types.String `tfsdk:"token"`
}

// record is what the API says of a service account, again and again.
type record struct {
	ID              types.String         `tfsdk:"id"`
	AccountID       types.String         `tfsdk:"account_id"`
	Name            types.String         `tfsdk:"name"`
	ExpiresAt       customtype.Timestamp `tfsdk:"expires_at"`
	TokenLast4      types.String         `tfsdk:"token_last4"`
	TokenPrefix     types.String         `tfsdk:"token_prefix"`
	TokenPublicID   types.String         `tfsdk:"token_public_id"`
	CreatedAt       types.String         `tfsdk:"created_at"`
	UpdatedAt       types.String         `tfsdk:"updated_at"`
	CreatedByUserID types.String         `tfsdk:"created_by_user_id"`
	LastUsedAt      types.String         `tfsdk:"last_used_at"`
	RevokedAt       types.String         `tfsdk:"revoked_at"`
	RevokedByUserID types.String         `tfsdk:"revoked_by_user_id"`
}

// label is how messages name the service account.
func (m record) label() string {
	if m.Name.ValueString() != "" {
		return "service account " + strconv.Quote(m.Name.ValueString())
	}
	return "service account " + m.ID.ValueString()
}

// fill takes over what the API says of the service account.
func (m *record) fill(a *api.ServiceAccount) {
	m.ID = types.StringValue(a.ID)
	m.AccountID = types.StringValue(a.AccountID)
	m.Name = types.StringValue(a.Name)
	m.ExpiresAt = customtype.NewPointer[customtype.Timestamp](a.ExpiresAt)
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

// imported reports whether the service account was made outside Terraform, so
// that its token is not known: the API never says it again.
func (m model) imported() bool { return m.Token.IsNull() }

// past reports whether a point in time is given, known and over.
func past(t customtype.Timestamp, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, t.ValueString())
	return err == nil && !at.After(now)
}
