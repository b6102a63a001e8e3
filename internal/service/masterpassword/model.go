package masterpassword

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// resourceModel is the model of the resource: model and the secret.
type resourceModel struct {
	model
	secret
	GeneratedSecret types.String `tfsdk:"generated_secret"`
}

// model has the attributes of a master password in the API, without its secret. The data
// sources return it.
type model struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	service.Scope
	CreatedAt types.String `tfsdk:"created_at"`
	UpdatedAt types.String `tfsdk:"updated_at"`
}

// label names the master password in messages.
func (m model) label() string {
	if m.Name.IsNull() {
		return "master password " + m.ID.ValueString()
	}
	return "master password " + strconv.Quote(m.Name.ValueString())
}

// flatten sets the model from the master password.
func (m *model) flatten(ctx context.Context, c service.DomainReader, p *api.MasterPassword) {
	m.ID = types.StringValue(p.ID)
	m.Name = types.StringValue(p.Name)
	m.Scope.Flatten(ctx, c, p.ScopeType, p.ScopeID)
	m.CreatedAt = types.StringValue(p.CreatedAt)
	m.UpdatedAt = types.StringValue(p.UpdatedAt)
}

// sameSecretAs reports whether a configuration sets the secret in the state, possibly by
// another attribute.
func (m resourceModel) sameSecretAs(config resourceModel) bool {
	configured := config.expand()
	return configured != nil && (m.Value.ValueString() == *configured || m.GeneratedSecret.ValueString() == *configured)
}
