package dnsrecord

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

var collection = service.Collection[located, model]{
	Name: "dns_record", Names: "dns_records", Noun: "DNS record", Nouns: "DNS records",
	Attributes: func() map[string]schema.Attribute {
		return service.ComputedAttributes(modelAttributes(context.Background()), map[string]string{
			"domain":            "Name of the domain, as `domain_name`.",
			"name":              "Name of the record, relative to the domain; `@` is the domain itself.",
			"type":              "Type of the record.",
			"value":             "Value of the record in the form of its type, without the priority. A TXT value is the text itself, its strings joined.",
			"ttl":               "How long resolvers may cache the record, in seconds.",
			"priority":          "Priority of an MX or SRV record, the lowest first; null for other types.",
			"is_system_managed": "Whether the record was created with its domain, and exists as long as the domain.",
		})
	},
	Filters: []service.Filter{
		service.DomainFilter("DNS records"),
		{
			Name: "type", Validators: []validator.String{recordType},
			MarkdownDescription: "Only the DNS records of this type: " + recordType.MarkdownDescription(context.Background()) + ".",
		},
		{
			Name: "name", Validators: []validator.String{customtype.DNSName.Validator()},
			MarkdownDescription: "Only the DNS records of this name: relative to its domain, such as `www`, or absolute, such as `www.example.com.`; `@` is the domain itself.",
		},
	},
	List: listRecords,
	Flatten: func(_ context.Context, _ service.DomainReader, r *located) (m model) {
		m.setZone(r.zone)
		m.flatten(&r.DNSRecord)
		return m
	},
}

// NewDataSources returns data.mailhost_dns_records.
func NewDataSources() datasource.DataSource {
	return service.NewDataSources(collection, "The DNS records of the account, or those that match every filter; without `domain`, ordered by domain. They include the records that every domain comes with.")
}
