package masterpassword

import (
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_master_password.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[api.MasterPassword, model]{
		ID:          func(p *api.MasterPassword) string { return p.ID },
		DisplayName: func(p *api.MasterPassword) string { return service.ScopedName(p.Name, p.ScopeType) },
		Model:       func(m model) any { return &resourceModel{model: m} },
	}, "Lists the master passwords of the account, or those that match every filter. A configuration generated from it has no secret, so that the one in use does not change.")
}
