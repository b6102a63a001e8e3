package serviceaccount

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
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

// NewDataSource returns data.mailhost_service_account.
func NewDataSource() datasource.DataSource {
	return service.NewSingular(object, service.Lookup[api.ServiceAccount, record]{
		Keys: []service.Filter{
			service.IDKey("service account", "`name`"),
			{
				Name: "name", Validators: []validator.String{validate.Length[api.CreateServiceAccountBody]("name")},
				MarkdownDescription: "Name of the service account, in its very spelling: of those that are not revoked, one must have it. Give it or `id`.",
			},
		},
		Get: (*client.Client).GetServiceAccount,
		Find: func(ctx context.Context, c *client.Client, by service.Given) (*api.ServiceAccount, error) {
			return c.FindServiceAccount(ctx, by["name"])
		},
	}, "A service account that exists, by its UUID, or by its name among those that are not revoked. It does not tell the token, which the API tells only whoever creates a service account.")
}

// NewDataSources returns data.mailhost_service_accounts.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The service accounts of the account, without their tokens. Those that were revoked are among them: they have a `revoked_at`.")
}

// NewListResource returns the list resource mailhost_service_account.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[api.ServiceAccount, record]{
		ID:          func(a *api.ServiceAccount) string { return a.ID },
		DisplayName: func(a *api.ServiceAccount) string { return a.Name },
		Model:       func(r record) any { return &model{record: r, RotationTriggers: types.MapNull(types.StringType)} },
		Skip:        func(a *api.ServiceAccount) bool { return a.RevokedAt != nil },
	}, "Lists the service accounts of the account. Those that were revoked can't be managed any more, and are left out. The token of one that is imported is not known.")
}
