// Package forwarding has the resource mailhost_forwarding, its data sources and its
// list resource, and the action mailhost_resend_forwarding_verification.
package forwarding

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// Definition describes forwarding rules.
var Definition = &service.Definition[api.Forwarding, model]{
	Name: "forwarding",
	Collection: service.Collection[api.Forwarding]{
		Names: "forwardings", Noun: "forwarding rule", Nouns: "forwarding rules",
		Description: "The forwarding rules of the account, or those that match every filter.",
		Attributes:  attributes,
		Described: map[string]string{
			"target_email": "Address that mail is forwarded to.",
			"active":       "Whether mail is forwarded: the rule is on, and its target is a mailbox of the account or has been confirmed.",
		},
		Filters: []service.Filter{
			service.NewFilter("verification_state", "Only the forwarding rules whose recipient's confirmation is in this state: `internal` (none required), `pending`, `verified` or `expired`.",
				validate.OneOf[api.ListForwardingRequest]("verification_state")),
			service.SearchFilter("forwarding rules", "their target's address"),
		},
		List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.Forwarding, error] {
			return c.ListForwarding(ctx, api.ListForwardingRequest{
				Domain: by["domain"], WorkspaceID: by["workspace_id"], ScopeType: by["scope_type"],
				VerificationState: by["verification_state"], Search: by["search"],
			})
		},
	},
	ResourceDescription:   description,
	DataSourceDescription: "A forwarding rule that exists, by its UUID, or by its target within its scope.",
	ListDescription:       "Lists the forwarding rules of the account, or those that match every filter. `active` is null for a rule with a pending verification: the API does not return whether it is switched off, and a configuration generated from it must not switch it off.",
	Volatile: []string{
		"verification_required", "verification_state", "verification_sent_at", "verification_expires_at", "verification_verified_at", "updated_at",
	},

	ID:          func(f *api.Forwarding) string { return f.ID },
	DisplayName: func(f *api.Forwarding) string { return service.ScopedName(f.TargetEmail, f.ScopeType) },
	Get:         (*client.Client).GetForwarding,
	Imported: func(m *model) {
		if !m.confirmed() {
			m.Active = types.BoolNull() // false would switch off a pending rule
		}
	},
	FindIn:   (*client.Client).FindForwarding,
	ImportBy: "<domain>/<target>, <workspace UUID>/<target>, <target> alone for a rule of the account, or the rule's UUID",
	Keys: []service.Filter{
		service.IDKey("rule", "`target_email`"),
		service.NewFilter("target_email", "Address that mail is forwarded to. Upper and lower case are the same. Set it or `id`.",
			customtype.EmailAddress.Validator()),
	},

	Delete:          (*client.Client).DeleteForwarding,
	DeleteOperation: api.DeleteForwarding.Spec,
	Orphaned:        func(_ context.Context, m model) string { return m.stillForwards() },
}
