package forwarding

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_forwarding.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.Forwarding, model]{
		ID:          func(f *api.Forwarding) string { return f.ID },
		DisplayName: func(f *api.Forwarding) string { return service.ScopedName(f.TargetEmail, f.ScopeType) },
		Model: func(m model) any {
			if !m.confirmed() {
				m.Active = types.BoolNull() // false would switch off a rule that only waits
			}
			return &m
		},
	}, "Lists the forwarding rules of the account, or those of them that every filter lets through. Of a rule that waits for its recipient, `active` is null: nothing tells whether it is switched off, and a configuration that is generated from it must not switch it off.")
}
