package forwarding

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_forwarding.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[api.Forwarding, model]{
		ID:          func(f *api.Forwarding) string { return f.ID },
		DisplayName: func(f *api.Forwarding) string { return service.ScopedName(f.TargetEmail, f.ScopeType) },
		Model: func(m model) any {
			if !m.confirmed() {
				m.Active = types.BoolNull() // false would switch off a pending rule
			}
			return &m
		},
	}, "Lists the forwarding rules of the account, or those that match every filter. `active` is null for a rule with a pending verification: the API does not return whether it is switched off, and a configuration generated from it must not switch it off.")
}
