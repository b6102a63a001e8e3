// Package dnszone has the resource mailhost_dns_zone: all DNS records of a domain.
//
// The state has all records of the domain, except the system-managed ones and the ones that
// ignore matches, so that a record which others have added is a difference in the plan. An
// update removes only what its plan has named: records of the prior state, and of purged if
// ignore has changed. The private state lists the records that others have added since the
// last apply, which a destroy leaves, and the ones that ignore matches.
//
// A create removes whatever the domain has at the apply. Its plan names what the domain has
// by then, but can't bind the apply to it: core only compares known values, and reports a
// difference as a bug. The plan of an imported zone is binding.
//
// A create that fails returns no state, because Terraform would replace a tainted zone, with
// all its records. The next create keeps what the failed one has done.
package dnszone

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
)

const typeName = "mailhost_dns_zone"

func NewListResource() list.ListResource { return definition.ListResource() }

// definition describes the resource. It has no data sources: those of DNS records list
// the records of a domain.
var definition = &service.Definition[api.Domain, model]{
	Name: "dns_zone",
	Collection: service.Collection[api.Domain]{
		Noun: "DNS zone", Nouns: "DNS zones",
		Attributes: attributes,
		Filters:    service.DomainFilters(), List: service.Listed((*client.Client).ListDomains),
	},
	ID:       func(d *api.Domain) string { return d.ID },
	Flatten:  func(m *model, d *api.Domain) { m.setDomain(d.ID, dnsrecord.ZoneName(d.Name)) },
	ImportBy: "the domain's name, such as example.com, or its UUID",
	Managing: service.Managing{
		ResourceDescription: description,
		Settings:            settings,
		Volatile:            []string{"purged"},
		NaturalKeys:         func(of service.Attributes) []string { return service.DomainKeys(of.Text, "") },
		ReplacedBy:          []string{"domain"},
		IsValuable:          true,
	},
	Listing: service.Listing[api.Domain, model]{
		Note:        "Each domain is one zone, with all records but the system-managed ones.",
		DisplayName: func(d *api.Domain) string { return d.Name },
		Imported: func(ctx context.Context, c *client.Client, m *model) error {
			has, err := m.zone(c).read(ctx)
			if has.isUnreadable {
				err = errUnreadable
			}
			m.Records = flatten(has.ttls(nil))
			return err
		},
	},
}
