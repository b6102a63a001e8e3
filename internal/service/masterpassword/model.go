package masterpassword

import (
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

type model struct {
	service.Scope
	secret

	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	CreatedAt       types.String `tfsdk:"created_at"`
	UpdatedAt       types.String `tfsdk:"updated_at"`
	GeneratedSecret types.String `tfsdk:"generated_secret"`
}

// String names the master password in messages.
func (m model) String() string {
	if m.Name.IsNull() {
		return "master password " + m.ID.ValueString()
	}
	return "master password " + strconv.Quote(m.Name.ValueString())
}

// sameSecretAs reports whether a configuration sets the secret in the state, possibly by
// another attribute.
func (m model) sameSecretAs(config model) bool {
	configured := config.expand()
	return configured != nil && (m.Value.ValueString() == *configured || m.GeneratedSecret.ValueString() == *configured)
}
