package serviceaccount

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_service_account.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.ServiceAccount, record]{
		ID:          func(a *api.ServiceAccount) string { return a.ID },
		DisplayName: func(a *api.ServiceAccount) string { return a.Name },
		Model:       func(r record) any { return &model{record: r, RotationTriggers: types.MapNull(types.StringType)} },
		Skip:        func(a *api.ServiceAccount) bool { return a.RevokedAt != nil },
	}, "Lists the service accounts of the account. Those that were revoked can't be managed any more, and are left out. The token of one that is imported is not known.")
}
