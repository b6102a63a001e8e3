package mailbox

import (
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_mailbox.
func NewListResource() list.ListResource {
	return service.NewListResource(collection, service.ListItem[api.Mailbox, model]{
		ID:          func(m *api.Mailbox) string { return m.ID },
		DisplayName: func(m *api.Mailbox) string { return m.PrimaryEmail },
		Model:       func(m model) any { return &resourceModel{model: m, Timeouts: service.NullTimeouts()} },
	}, "Lists the mailboxes of the account, or those that match every filter.")
}
