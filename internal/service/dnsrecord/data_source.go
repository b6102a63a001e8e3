package dnsrecord

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// NewDataSource returns data.mailhost_dns_record.
func NewDataSource() datasource.DataSource {
	withoutID := stringvalidator.ConflictsWith(path.MatchRoot("id"))
	return service.NewDataSource(collection, service.Lookup[located, model]{
		Keys: []service.Filter{
			{
				Name: "id", Validators: []validator.String{validate.Rule("a number such as 1042", checkID)},
				MarkdownDescription: "Id of the record: a number, in decimal. Set it, or `name` with `domain` and `type`.",
			},
			{
				Name: "name",
				Validators: []validator.String{
					customtype.DNSName.Validator(), stringvalidator.AlsoRequires(path.MatchRoot("domain"), path.MatchRoot("type")),
				},
				MarkdownDescription: "Name of the record: relative to the domain, such as `www`, or in full, such as `www.example.com`, which ends in the domain; `@` is the domain itself. Set it with `domain` and `type`, or set `id`.",
			},
		},
		Qualifiers: []service.Filter{
			{
				Name: "domain", Validators: []validator.String{customtype.DomainRef.Validator(), withoutID},
				MarkdownDescription: "Domain of the record, by name or UUID. Set it with `name`.",
			},
			{
				Name: "type", Validators: []validator.String{recordType, withoutID},
				MarkdownDescription: "Type of the record: " + recordType.MarkdownDescription(context.Background()) + ". Set it with `name`.",
			},
			{
				Name: "value", Validators: []validator.String{withoutID},
				MarkdownDescription: "Value of the record, in the form of its type and without the priority. Set it if there are several records of the type at the name.",
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
		"It also finds the records that every domain comes with, such as the DKIM record.")
}

func checkID(s string) (string, error) {
	if _, ok := canonicalID(s); !ok {
		return "", fmt.Errorf("must be a number such as 1042, not %.40q", s)
	}
	return s, nil
}

func find(ctx context.Context, c *client.Client, by service.FilterValues) (*located, error) {
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
