package account

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// NewAuthorizations returns data.mailhost_authorizations.
func NewAuthorizations() datasource.DataSource {
	return service.Collection[api.Authorization]{
		Names: "authorizations", Noun: "authorization", Nouns: "authorizations",
		Note: "They grant permissions to users, groups and service accounts.",
		Filters: []service.Filter{
			service.NewFilter("subject_type", "Only the authorizations of this type of subject: `user`, `group` or `service_account`.",
				validate.OneOf[api.ListAuthorizationsRequest]("subject_type")),
			service.NewFilter("subject_id", "Only the authorizations of the subject with this id, for instance `mailhost_service_account.ci.id`."),
			service.NewFilter("grant_kind", "Only the authorizations of this kind: `capability`, `account_owner` or `super_admin`.",
				validate.OneOf[api.ListAuthorizationsRequest]("grant_kind")),
			service.NewFilter("capability_key", "Only the authorizations of this permission, such as `mailbox.create`. It does not find owners and administrators, who have every permission without a key."),
			{
				Name: "include_revoked", Bool: true,
				MarkdownDescription: "Whether to include revoked authorizations. Default: `false`.",
			},
		},
		List: service.Listed((*client.Client).ListAuthorizations),
	}.DataSources()
}
