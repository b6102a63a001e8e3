package dnsrecord

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var object = service.Object[located, model]{
	Name: "dns_record", Names: "dns_records", Noun: "DNS record", Nouns: "DNS records",
	Attributes: func() map[string]schema.Attribute {
		return service.Answered(attributes(context.Background()), map[string]string{
			"domain":            "Name of the domain, as `domain_name`.",
			"name":              "Name of the record, relative to the domain; `@` is the domain itself.",
			"type":              "Type of the record.",
			"value":             "Value of the record in the form of its type, without the priority. A TXT value is the text itself, its strings joined.",
			"ttl":               "How long resolvers may keep the record, in seconds.",
			"priority":          "Priority of an MX or SRV record, the lowest first; null for other types.",
			"is_system_managed": "Whether the record came with its domain, and lives as long as that.",
		})
	},
	Filters: []service.Filter{
		service.DomainFilter("DNS records"),
		{
			Name: "type", Validators: []validator.String{recordType},
			MarkdownDescription: "Only the DNS records of this type: " + recordType.MarkdownDescription(context.Background()) + ".",
		},
		{
			Name: "name", Validators: []validator.String{customtype.DNSNameType{}.Validator()},
			MarkdownDescription: "Only the DNS records of this name: relative to its domain, such as `www`, or absolute, such as `www.example.com.`; `@` is the domain itself.",
		},
	},
	List: locate,
	Recorder: service.Recorded(func(r *located) (m model) {
		m.in(r.in)
		m.fill(&r.DNSRecord)
		return m
	}),
}

// NewDataSource returns data.mailhost_dns_record.
func NewDataSource() datasource.DataSource {
	withoutID := stringvalidator.ConflictsWith(path.MatchRoot("id"))
	return service.NewSingular(object, service.Lookup[located, model]{
		Keys: []service.Filter{
			{
				Name: "id", Validators: []validator.String{validate.Rule("a number such as 1042", checkID)},
				MarkdownDescription: "Id of the record: a number, in decimal. Give it, or `name` with `domain` and `type`.",
			},
			{
				Name: "name",
				Validators: []validator.String{
					customtype.DNSNameType{}.Validator(), stringvalidator.AlsoRequires(path.MatchRoot("domain"), path.MatchRoot("type")),
				},
				MarkdownDescription: "Name of the record: relative to the domain, such as `www`, or in full, such as `www.example.com`, which ends in the domain; `@` is the domain itself. Give it with `domain` and `type`, or give `id`.",
			},
		},
		Within: []service.Filter{
			{
				Name: "domain", Validators: []validator.String{customtype.DomainRefType{}.Validator(), withoutID},
				MarkdownDescription: "Domain of the record, by name or UUID. Give it with `name`.",
			},
			{
				Name: "type", Validators: []validator.String{recordType, withoutID},
				MarkdownDescription: "Type of the record: " + recordType.MarkdownDescription(context.Background()) + ". Give it with `name`.",
			},
			{
				Name: "value", Validators: []validator.String{withoutID},
				MarkdownDescription: "Value of the record, in the form of its type and without the priority. Give it where there are several records of the type at the name.",
			},
		},
		Get: func(c *client.Client, ctx context.Context, id string) (*located, error) {
			record, err := readByID(ctx, c, id)
			if err != nil {
				return nil, err
			}
			in, err := searchZone(ctx, c, record)
			return &located{*record, in}, err
		},
		Find: find,
	}, "A DNS record that exists, by its id, or by its domain, type and name, and its value where there are several. "+
		"The records that a domain is born with, such as that of its DKIM key, can be looked up as well.")
}

func checkID(s string) (string, error) {
	if _, ok := canonicalID(s); !ok {
		return "", fmt.Errorf("must be a number such as 1042, not %.40q", s)
	}
	return s, nil
}

func find(ctx context.Context, c *client.Client, by service.Given) (*located, error) {
	key := recordKey{domain: by["domain"], recordType: by["type"], name: by["name"], value: by["value"]}
	found, in, err := key.records(ctx, c)
	if err != nil {
		return nil, err
	}
	record, err := key.one(found)
	if err != nil {
		return nil, err
	}
	return &located{*record, in}, nil
}

// NewDataSources returns data.mailhost_dns_records.
func NewDataSources() datasource.DataSource {
	return service.NewPlural(object, "The DNS records of the account, or those of them that every filter lets through: without `domain`, domain by domain. Those that a domain is born with are among them.")
}

// NewListResource returns the list resource mailhost_dns_record.
func NewListResource() list.ListResource {
	return service.NewListResource(object, service.Listed[located, model]{
		ID:          func(r *located) string { return strconv.FormatInt(r.ID, 10) },
		DisplayName: (*located).String,
		Model:       func(m model) any { return &m },
		Skip:        func(r *located) bool { return r.IsSystemManaged },
	}, "Lists the DNS records of the account, or those of them that every filter lets through: without `domain`, domain by domain. Those that a domain is born with can't be managed, and are left out.")
}

// String is how people are told of the record: as a line of a zone file.
func (r *located) String() string {
	value := r.Value
	if r.Priority != nil {
		value = fmt.Sprintf("%d %s", *r.Priority, value)
	}
	return fmt.Sprintf("%s %s %.80s", fqdn(r.Name, r.in.name), r.Type, value)
}
