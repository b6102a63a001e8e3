package domain

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_domain.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.Domain, record]{
		ID:          func(d *api.Domain) string { return d.ID },
		DisplayName: func(d *api.Domain) string { return d.Name },
		Model: func(r record) any {
			return &model{record: r, ContactInfo: noContact(), Acquisition: types.StringValue(adoption), Timeouts: service.NoTimeouts()}
		},
	}, "Lists the domains of the account, or those of them that every filter lets through.")
}
