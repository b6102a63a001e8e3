// Package dnsrecord has the resource mailhost_dns_record with its data sources and
// list resource.
package dnsrecord

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const typeName = "mailhost_dns_record"

var withoutID = stringvalidator.ConflictsWith(path.MatchRoot("id"))

var Definition = &service.Definition[located, model]{
	Name: "dns_record",
	Collection: service.Collection[located]{
		Names: "dns_records", Noun: "DNS record", Nouns: "DNS records",
		Note:       "Without `domain`, they are ordered by domain. They include the records that every domain comes with.",
		Attributes: attributes,
		Described: map[string]string{
			"domain":            "Name of the domain, as `domain_name`.",
			"name":              "Name of the record, relative to the domain; `@` is the domain itself.",
			"type":              "Type of the record.",
			"value":             "Value of the record in the form of its type, without the priority. A TXT value is the text itself, its strings joined.",
			"ttl":               "How long resolvers may cache the record, in seconds.",
			"priority":          "Priority of an MX or SRV record, the lowest first; null for other types.",
			"is_system_managed": "Whether the record was created with its domain, and exists as long as the domain.",
		},
		Filters: []service.Filter{
			service.DomainFilter("DNS records"),
			service.NewFilter("type", "Only the DNS records of this type: "+recordType.MarkdownDescription(context.Background())+".",
				recordType),
			service.NewFilter("name", "Only the DNS records of this name: relative to its domain, such as `www`, or absolute, such as `www.example.com.`; `@` is the domain itself.",
				customtype.DNSName.Validator()),
		},
		List: listRecords,
	},
	ID:          func(r *located) string { return strconv.FormatInt(r.ID, 10) },
	CanonicalID: canonicalID,
	Get: func(c *client.Client, ctx context.Context, id string) (*located, error) {
		record, err := c.GetDNSRecord(ctx, number(id))
		if err != nil {
			return nil, err
		}
		in, err := searchZone(ctx, c, record)
		return &located{*record, in}, err
	},
	Flatten: func(m *model, r *located) {
		m.setZone(r.zone)
		m.flatten(&r.DNSRecord)
	},
	FindBy: find,
	Managing: service.Managing{
		ResourceDescription: description,
		Settings: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{"on_existing": service.OnExisting("an identical record", "sets its ttl")}
		},
		NaturalKeys: naturalKeys,
		Known:       known,
		ReplacedBy:  []string{"domain", "name", "type"},
	},
	Delete: func(c *client.Client, ctx context.Context, id string) error {
		return c.DeleteDNSRecord(ctx, number(id))
	},
	DeleteOperation: api.DeleteDNSRecord.Spec,
	Orphaned: func(_ context.Context, _ *client.Client, m model) string {
		return "It is still served, with the value " + shortened(m.Value.ValueString()) + "."
	},
	Unreadable: true,
	Single: service.Single[located]{
		Description: "A DNS record that exists, by its id, or by its domain, type and name, and its value where there are several. " +
			"It also finds the records that every domain comes with, such as the DKIM record.",
		Keys: []service.Filter{
			service.NewFilter("id", "Id of the record: a number, in decimal. Set it, or `name` with `domain` and `type`.",
				validate.Rule("a number such as 1042", checkID)),
			service.NewFilter("name", "Name of the record: relative to the domain, such as `www`, or in full, such as `www.example.com`, which ends in the domain; `@` is the domain itself. Set it with `domain` and `type`, or set `id`.",
				customtype.DNSName.Validator(), stringvalidator.AlsoRequires(path.MatchRoot("domain"), path.MatchRoot("type"))),
		},
		Qualifiers: []service.Filter{
			service.NewFilter("domain", "Domain of the record, by name or UUID. Set it with `name`.",
				customtype.DomainRef.Validator(), withoutID),
			service.NewFilter("type", "Type of the record: "+recordType.MarkdownDescription(context.Background())+". Set it with `name`.",
				recordType, withoutID),
			service.NewFilter("value", "Value of the record, in the form of its type and without the priority. Set it if there are several records of the type at the name.", withoutID),
		},
	},
	Listing: service.Listing[located, model]{
		Note:        "Without `domain`, they are ordered by domain. The records that every domain comes with can't be managed and are left out.",
		DisplayName: (*located).String,
		Skip:        func(r *located) bool { return r.IsSystemManaged },
	},
}

func checkID(s string) (string, error) {
	if _, ok := canonicalID(s); !ok {
		return "", fmt.Errorf("must be a number such as 1042, not %.40q", s)
	}
	return s, nil
}
