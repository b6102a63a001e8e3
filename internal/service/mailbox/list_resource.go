package mailbox

import (
	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewListResource returns the list resource mailhost_mailbox.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.Mailbox, record]{
		ID:          func(m *api.Mailbox) string { return m.ID },
		DisplayName: func(m *api.Mailbox) string { return m.PrimaryEmail },
		Model:       func(r record) any { return &model{record: r, Timeouts: service.NoTimeouts()} },
	}, "Lists the mailboxes of the account, or those of them that every filter lets through.")
}
