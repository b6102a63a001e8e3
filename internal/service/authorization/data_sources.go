package authorization

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var collection = service.Collection[api.Authorization, model]{
	Name: "authorization", Names: "authorizations", Noun: "authorization", Nouns: "authorizations",
	Attributes: modelAttributes,
	Filters: []service.Filter{
		{
			Name: "subject_type", Validators: []validator.String{validate.OneOf[api.ListAuthorizationsRequest]("subject_type")},
			MarkdownDescription: "Only the authorizations of this type of subject: `user`, `group` or `service_account`.",
		},
		{
			Name:                "subject_id",
			MarkdownDescription: "Only the authorizations of the subject with this id, for instance `mailhost_service_account.ci.id`.",
		},
		{
			Name: "grant_kind", Validators: []validator.String{validate.OneOf[api.ListAuthorizationsRequest]("grant_kind")},
			MarkdownDescription: "Only the authorizations of this kind: `capability`, `account_owner` or `super_admin`.",
		},
		{
			Name:                "capability_key",
			MarkdownDescription: "Only the authorizations of this permission, such as `mailbox.create`. It does not find owners and administrators, who have every permission without a key.",
		},
		{
			Name: "include_revoked", Bool: true,
			MarkdownDescription: "Whether to include revoked authorizations. Default: `false`.",
		},
	},
	List: func(ctx context.Context, c *client.Client, by service.FilterValues) iter.Seq2[api.Authorization, error] {
		return c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{
			SubjectType: by["subject_type"], SubjectID: by["subject_id"], GrantKind: by["grant_kind"],
			CapabilityKey: by["capability_key"], IncludeRevoked: by["include_revoked"] == "true",
		})
	},
	Flatten: func(_ context.Context, _ service.DomainReader, a *api.Authorization) model { return flatten(a) },
}

// NewDataSources returns data.mailhost_authorizations.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The authorizations of the account, which grant permissions to users, groups and service accounts, or those that match every filter.")
}
