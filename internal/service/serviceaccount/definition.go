// Package serviceaccount has the resource mailhost_service_account with its data
// sources and list resource, and the ephemeral resource
// mailhost_service_account_token.
package serviceaccount

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.ServiceAccount, model]{
	Name: "service_account",
	Collection: service.Collection[api.ServiceAccount]{
		Names: "service_accounts", Noun: "service account", Nouns: "service accounts",
		Note:       "They include revoked ones, which have a `revoked_at`. Their tokens are not included.",
		Attributes: attributes,
		Described: map[string]string{
			"name":         "Name of the service account. Several may have the same name.",
			"expires_at":   "When the token expires (RFC 3339); null if it never does.",
			"last_used_at": "When the token was last used, to the minute (RFC 3339); null if it was never used.",
			"revoked_at":   "When the service account was revoked, and its token stopped working (RFC 3339); null if it is not revoked.",
		},
		List: func(ctx context.Context, c *client.Client, _ service.FilterValues) iter.Seq2[api.ServiceAccount, error] {
			return c.ListServiceAccounts(ctx)
		},
	},
	ID:       func(a *api.ServiceAccount) string { return a.ID },
	Get:      (*client.Client).GetServiceAccount,
	Find:     (*client.Client).FindServiceAccount,
	ImportBy: "name or by UUID",
	Managing: service.Managing{
		ResourceDescription: description,
		Settings:            settings,
		Known: func(_ service.Attributes, accountID string) map[string]attr.Value {
			return map[string]attr.Value{"account_id": types.StringValue(accountID)}
		},
	},
	Delete:          (*client.Client).RevokeServiceAccount,
	DeleteOperation: api.RevokeServiceAccount.Spec,
	DeleteVerb:      "revoke",
	Orphaned:        func(ctx context.Context, c *client.Client, m model) string { return stillWorks(m, serverNow(ctx, c)) },
	Unreadable:      true,
	Single: service.Single[api.ServiceAccount]{
		Description: "A service account that exists, by its UUID, or by its name among those that are not revoked. The token is not included: the API returns it only when the service account is created.",
		Keys: []service.Filter{
			service.IDKey("service account", "`name`"),
			service.NewFilter("name", "Exact name of the service account. Exactly one that is not revoked must have it. Set it or `id`.",
				validate.Length[api.CreateServiceAccountBody]("name")),
		},
	},
	Listing: service.Listing[api.ServiceAccount, model]{
		Note:        "Revoked ones can't be managed and are left out. The token of an imported service account is unknown.",
		DisplayName: func(a *api.ServiceAccount) string { return a.Name },
		Skip:        func(a *api.ServiceAccount) bool { return a.RevokedAt != nil },
	},
}
