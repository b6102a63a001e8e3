package masterpassword

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// model is the resource as Terraform keeps it.
type model struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	service.Scope
	secret
	GeneratedSecret types.String `tfsdk:"generated_secret"`
	CreatedAt       types.String `tfsdk:"created_at"`
	UpdatedAt       types.String `tfsdk:"updated_at"`
}

// label is how messages name the master password.
func (m model) label() string {
	if m.Name.IsNull() {
		return "master password " + m.ID.ValueString()
	}
	return "master password " + strconv.Quote(m.Name.ValueString())
}

// fill takes over what the API says of the master password, which is nothing of
// its secret.
func (m *model) fill(ctx context.Context, c *client.Client, p *api.MasterPassword) {
	m.ID = types.StringValue(p.ID)
	m.Name = types.StringValue(p.Name)
	m.Scope.Fill(ctx, c, p.ScopeType, p.ScopeID)
	m.CreatedAt = types.StringValue(p.CreatedAt)
	m.UpdatedAt = types.StringValue(p.UpdatedAt)
}

// sameSecretAs reports whether a configuration gives, maybe by another
// attribute, the secret that the state knows.
func (m model) sameSecretAs(config model) bool {
	given := config.given()
	return given != nil && (m.Value.ValueString() == *given || m.GeneratedSecret.ValueString() == *given)
}
