package mailbox

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewDataSource returns data.mailhost_mailbox.
func NewDataSource() datasource.DataSource {
	return service.NewDataSource(collection, service.Lookup[api.Mailbox, model]{
		Keys: []service.Filter{
			service.IDKey("mailbox", "`primary_email`"),
			{
				Name: "primary_email", Validators: []validator.String{customtype.EmailAddress.Validator()},
				MarkdownDescription: "Address of the mailbox, such as `jane@example.com`. Set it or `id`.",
			},
		},
		Get: (*client.Client).GetMailbox,
		Find: func(ctx context.Context, c *client.Client, by service.FilterValues) (*api.Mailbox, error) {
			return c.FindMailbox(ctx, by["primary_email"])
		},
	}, "A mailbox that exists, by its UUID or its address.")
}
