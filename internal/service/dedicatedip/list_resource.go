package dedicatedip

import (
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_dedicated_ip.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[api.DedicatedIP, model]{
		ID:          func(d *api.DedicatedIP) string { return d.ID },
		DisplayName: func(d *api.DedicatedIP) string { return d.Name },
		Model:       func(m model) any { return &resourceModel{model: m, Timeouts: service.NullTimeouts()} },
	}, "Lists the dedicated IP addresses of the account, or those that match every filter.")
}
