package forwarding

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewDataSource returns data.mailhost_forwarding.
func NewDataSource() datasource.DataSource {
	return service.NewDataSource(collection, service.Lookup[api.Forwarding, model]{
		Keys: []service.Filter{
			service.IDKey("rule", "`target_email`"),
			{
				Name: "target_email", Validators: []validator.String{customtype.EmailAddress.Validator()},
				MarkdownDescription: "Address that mail is forwarded to. Upper and lower case are the same. Set it or `id`.",
			},
		},
		Qualifiers: service.ScopeQualifiers(noun, "target_email"),
		Get:        (*client.Client).GetForwarding,
		Find: func(ctx context.Context, c *client.Client, by service.FilterValues) (*api.Forwarding, error) {
			return c.FindForwarding(ctx, by["target_email"], by.Scope())
		},
		Model: func(found model, by service.FilterValues) any {
			found.KeepDomain(by)
			return &found
		},
	}, "A forwarding rule that exists, by its UUID, or by its target within its scope.")
}
