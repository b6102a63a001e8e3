// Package domain has the resource mailhost_domain, its data sources and its list
// resource.
package domain

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

var Definition = &service.Definition[api.Domain, model]{
	Name: "domain",
	Collection: service.Collection[api.Domain]{
		Names: "domains", Noun: "domain", Nouns: "domains",
		Attributes: attributes,
		Described: map[string]string{
			"name":         "Name of the domain, in ASCII and lower case.",
			"workspace_id": "UUID of the workspace that the domain is in.",
			"auto_renew":   "Whether the registration is renewed automatically.",
			"redirect_url": "Where the domain's web traffic is redirected to; null without a redirect.",
		},
		Filters: service.DomainFilters(),
		List:    service.Listed((*client.Client).ListDomains),
	},
	ID:      func(d *api.Domain) string { return d.ID },
	Get:     (*client.Client).GetDomain,
	Flatten: (*model).flatten,
	Find:    (*client.Client).FindDomain,
	Managing: service.Managing{
		ResourceDescription: description,
		Settings:            settings,
		CreateTimeout:       30 * time.Minute,
		NaturalKeys:         naturalKeys,
		ReplacedBy:          []string{"name"},
		IsValuable:          true,
	},
	Delete:          (*client.Client).DeleteDomain,
	DeleteOperation: api.DeleteDomain.Spec,
	DeleteConflict: "The domain was not deleted. " +
		"Run destroy again if mailboxes of this configuration were being destroyed at the same time. To make Terraform destroy them first, let each mailbox refer to the domain, for instance with domain = mailhost_domain.main.name, or give it depends_on. " +
		"Delete or import mailboxes that the configuration does not have. " +
		"To keep the domain, remove it from the state with `terraform state rm` or a removed block.",
	Orphaned: func(_ context.Context, _ *client.Client, m model) string {
		if m.AutoRenew.ValueBool() {
			return "It keeps receiving mail and answering DNS queries. Because auto_renew is on, its registration will be renewed and charged again."
		}
		return "It keeps receiving mail and answering DNS queries until its registration ends."
	},
	Single: service.Single[api.Domain]{
		Description: "A domain of the account, by its UUID or its name. Nothing is bought: a domain that the account does not own is an error.",
		Keys: []service.Filter{
			service.IDKey("domain", "`name`"),
			service.NewFilter("name", "Name of the domain, such as `example.com`, in any spelling. Give it or `id`.",
				customtype.DomainName.Validator()),
		},
	},
	Listing: service.Listing[api.Domain, model]{
		DisplayName: func(d *api.Domain) string { return d.Name },
		Imported: func(_ context.Context, _ *client.Client, m *model) error {
			m.Acquisition = types.StringValue(acquisitionAdopt)
			return nil
		},
	},
}
