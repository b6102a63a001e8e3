package domain

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_domain.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[api.Domain, model]{
		ID:          func(d *api.Domain) string { return d.ID },
		DisplayName: func(d *api.Domain) string { return d.Name },
		Model: func(m model) any {
			return &resourceModel{model: m, ContactInfo: nullContact(), Acquisition: types.StringValue(acquisitionAdopt), Timeouts: service.NullTimeouts()}
		},
	}, "Lists the domains of the account, or those of them that every filter lets through.")
}
