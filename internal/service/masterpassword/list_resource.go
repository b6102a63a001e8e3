package masterpassword

import (
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_master_password.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.MasterPassword, record]{
		ID:          func(p *api.MasterPassword) string { return p.ID },
		DisplayName: func(p *api.MasterPassword) string { return service.ScopedName(p.Name, p.ScopeType) },
		Model:       func(r record) any { return &model{record: r} },
	}, "Lists the master passwords of the account, or those of them that every filter lets through. A configuration that is generated from it has no secret: the one in use stays as it is.")
}
