package serviceaccount

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

var collection = service.Collection[api.ServiceAccount, model]{
	Name: "service_account", Names: "service_accounts", Noun: "service account", Nouns: "service accounts",
	Attributes: func() map[string]schema.Attribute {
		return service.ComputedAttributes(modelAttributes(), map[string]string{
			"name":         "Name of the service account. Several may have the same name.",
			"expires_at":   "When the token expires (RFC 3339); null if it never does.",
			"last_used_at": "When the token was last used, to the minute (RFC 3339); null if it was never used.",
			"revoked_at":   "When the service account was revoked, and its token stopped working (RFC 3339); null if it is not revoked.",
		})
	},
	List: func(ctx context.Context, c *client.Client, _ service.FilterValues) iter.Seq2[api.ServiceAccount, error] {
		return c.ListServiceAccounts(ctx)
	},
	Flatten: func(_ context.Context, _ service.DomainReader, a *api.ServiceAccount) (m model) {
		m.flatten(a)
		return m
	},
}

// NewDataSources returns data.mailhost_service_accounts.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The service accounts of the account, without their tokens. They include revoked ones, which have a `revoked_at`.")
}
