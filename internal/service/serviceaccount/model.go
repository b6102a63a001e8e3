package serviceaccount

import (
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

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
	// The rest is only in the configuration and in the state.
	ValidFor         types.String `tfsdk:"valid_for"`
	RotateBefore     types.String `tfsdk:"rotate_before"`
	RotationTriggers types.Map    `tfsdk:"rotation_triggers"`
	Permissions      types.Set    `tfsdk:"permissions"`
	Token            types.String `tfsdk:"token"`
}

func (m model) String() string {
	if m.Name.ValueString() != "" {
		return "service account " + strconv.Quote(m.Name.ValueString())
	}
	return "service account " + m.ID.ValueString()
}

// imported reports whether the service account was imported, so that its token is
// unknown: the API returns a token only once.
func (m model) imported() bool { return m.Token.IsNull() }

// past reports whether a time is set, known and not after now.
func past(t customtype.String, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, t.ValueString())
	return err == nil && !at.After(now)
}
