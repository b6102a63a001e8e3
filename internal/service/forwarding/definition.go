// Package forwarding has the resource mailhost_forwarding, its data sources and its
// list resource, and the action mailhost_resend_forwarding_verification.
package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.Forwarding, model]{
	Name: "forwarding",
	Collection: service.Collection[api.Forwarding]{
		Names: "forwardings", Noun: "forwarding rule", Nouns: "forwarding rules",
		Attributes: attributes,
		Described: map[string]string{
			"target_email": "Address that mail is forwarded to.",
			"active":       "Whether mail is forwarded: the rule is on, and its target is a mailbox of the account or has been confirmed.",
		},
		Filters: []service.Filter{
			service.NewFilter("verification_state", "Only the forwarding rules whose recipient's confirmation is in this state: `internal` (none required), `pending`, `verified` or `expired`.",
				validate.OneOf[api.ListForwardingRequest]("verification_state")),
			service.SearchFilter("forwarding rules", "their target's address"),
		},
		List: service.Listed((*client.Client).ListForwarding),
	},
	ID:          func(f *api.Forwarding) string { return f.ID },
	Get:         (*client.Client).GetForwarding,
	FindInScope: (*client.Client).FindForwarding,
	ImportBy:    "<domain>/<target>, <workspace UUID>/<target>, <target> alone for a rule of the account, or the rule's UUID",
	Managing: service.Managing{
		ResourceDescription: description,
		Settings: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{"on_existing": service.OnExisting("a rule of this scope to this target", "switches it as `active` says, without a new verification message")}
		},
		NaturalKeys: naturalKeys,
		Volatile: []string{
			"verification_required", "verification_state", "verification_sent_at", "verification_expires_at", "verification_verified_at", "updated_at",
		},
	},
	Delete:          (*client.Client).DeleteForwarding,
	DeleteOperation: api.DeleteForwarding.Spec,
	Orphaned:        func(_ context.Context, _ *client.Client, m model) string { return m.stillForwards() },
	Single: service.Single[api.Forwarding]{
		Description: "A forwarding rule that exists, by its UUID, or by its target within its scope.",
		Keys: []service.Filter{
			service.IDKey("rule", "`target_email`"),
			service.NewFilter("target_email", "Address that mail is forwarded to. Upper and lower case are the same. Set it or `id`.",
				customtype.EmailAddress.Validator()),
		},
	},
	Listing: service.Listing[api.Forwarding, model]{
		Note:        "`active` is null for a rule with a pending verification: the API does not return whether it is switched off, and a configuration generated from it must not switch it off.",
		DisplayName: func(f *api.Forwarding) string { return service.ScopedName(f.TargetEmail, f.ScopeType) },
		Imported: func(_ context.Context, _ *client.Client, m *model) error {
			if !m.confirmed() {
				m.Active = types.BoolNull() // false would switch off a pending rule
			}
			return nil
		},
	},
}
