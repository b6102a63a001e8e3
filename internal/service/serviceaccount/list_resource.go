package serviceaccount

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_service_account.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[api.ServiceAccount, model]{
		ID:          func(a *api.ServiceAccount) string { return a.ID },
		DisplayName: func(a *api.ServiceAccount) string { return a.Name },
		Model:       func(m model) any { return &resourceModel{model: m, RotationTriggers: types.MapNull(types.StringType)} },
		Skip:        func(a *api.ServiceAccount) bool { return a.RevokedAt != nil },
	}, "Lists the service accounts of the account, without revoked ones, which can't be managed. The token of an imported service account is unknown.")
}
