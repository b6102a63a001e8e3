package account

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// NewAuthorizations returns data.mailhost_authorizations.
func NewAuthorizations() datasource.DataSource {
	return service.Collection[api.Authorization]{
		Names: "authorizations", Noun: "authorization", Nouns: "authorizations",
		Note: "They grant permissions to users, groups and service accounts.",
		List: service.Listed((*client.Client).ListAuthorizations),
	}.DataSources()
}
