package masterpassword

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// model is the resource as Terraform keeps it.
type model struct {
	record
	secret
	GeneratedSecret types.String `tfsdk:"generated_secret"`
}

// record is what the API says of a master password, which is nothing of its
// secret.
type record struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	service.Scope
	CreatedAt types.String `tfsdk:"created_at"`
	UpdatedAt types.String `tfsdk:"updated_at"`
}

// label is how messages name the master password.
func (r record) label() string {
	if r.Name.IsNull() {
		return "master password " + r.ID.ValueString()
	}
	return "master password " + strconv.Quote(r.Name.ValueString())
}

// fill takes over what the API says of the master password.
func (r *record) fill(ctx context.Context, c service.DomainReader, p *api.MasterPassword) {
	r.ID = types.StringValue(p.ID)
	r.Name = types.StringValue(p.Name)
	r.Scope.Fill(ctx, c, p.ScopeType, p.ScopeID)
	r.CreatedAt = types.StringValue(p.CreatedAt)
	r.UpdatedAt = types.StringValue(p.UpdatedAt)
}

// sameSecretAs reports whether a configuration gives, maybe by another
// attribute, the secret that the state knows.
func (m model) sameSecretAs(config model) bool {
	given := config.given()
	return given != nil && (m.Value.ValueString() == *given || m.GeneratedSecret.ValueString() == *given)
}
