package account

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// NewAuthorizations returns data.mailhost_authorizations.
func NewAuthorizations() datasource.DataSource {
	return service.Collection[api.Authorization]{
		Names: "authorizations", Nouns: "authorizations",
		Note: "They grant permissions to users, groups and service accounts.",
		Attributes: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{
				"id":             service.ComputedString("UUID of the authorization."),
				"grant_kind":     service.ComputedString("What is granted: `account_owner` and `super_admin` have every permission in the account, `capability` is one permission."),
				"subject_type":   service.ComputedString("Type of the subject that has the grant: `user`, `group` or `service_account`."),
				"subject_id":     service.ComputedString("Id of the subject: a service account's UUID, or the id of the user or group at the OAuth issuer."),
				"capability_key": service.ComputedString("The permission of a `capability` grant, such as `mailbox.create`; null for the other kinds."),
				"resource_type":  service.ComputedString("Type of the resource that a `capability` grant is restricted to: `workspace` or `domain`; null for the whole account."),
				"resource_id":    service.ComputedString("UUID of the workspace or domain that a `capability` grant is restricted to; null for the whole account."),
				"created_at":     service.ComputedString("When it was granted (RFC 3339)."),
				"revoked_at":     service.ComputedString("When it was revoked (RFC 3339); null if it is not revoked."),
			}
		},
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
