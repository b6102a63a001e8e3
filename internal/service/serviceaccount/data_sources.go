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

var object = service.Object[api.ServiceAccount, record]{
	Name: "service_account", Names: "service_accounts", Noun: "service account", Nouns: "service accounts",
	Attributes: func() map[string]schema.Attribute {
		return service.Answered(recordAttributes(), map[string]string{
			"name":         "Name of the service account. Several may have the same.",
			"expires_at":   "When the token stops working (RFC 3339); null where it never expires.",
			"last_used_at": "When the token was last used, to the minute (RFC 3339); null where it never was.",
			"revoked_at":   "When the service account was revoked, and its token stopped working (RFC 3339); null where it was not.",
		})
	},
	List: func(ctx context.Context, c *client.Client, _ service.Given) iter.Seq2[api.ServiceAccount, error] {
		return c.ListServiceAccounts(ctx)
	},
	Recorder: service.Recorded(func(a *api.ServiceAccount) (r record) {
		r.fill(a)
		return r
	}),
}

// NewDataSources returns data.mailhost_service_accounts.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The service accounts of the account, without their tokens. Those that were revoked are among them: they have a `revoked_at`.")
}
