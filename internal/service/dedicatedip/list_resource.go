package dedicatedip

import (
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_dedicated_ip.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.DedicatedIP, record]{
		ID:          func(d *api.DedicatedIP) string { return d.ID },
		DisplayName: func(d *api.DedicatedIP) string { return d.Name },
		Model:       func(r record) any { return &model{record: r, Timeouts: service.NoTimeouts()} },
	}, "Lists the dedicated IP addresses of the account, or those of them that every filter lets through.")
}
