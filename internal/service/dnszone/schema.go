package dnszone

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

const description = "All DNS records of a domain. The resource owns the domain's records: what is in `records` exists, and **every other record is removed**, except those that `ignore` matches and the system-managed records that every domain comes with. " +
	"To manage single records and leave the others alone, use `mailhost_dns_record`.\n\n" +
	"Creating it takes the domain over: existing records that are in `records` are kept, missing ones are created, and the others are removed. The plan names each record that it removes; the apply removes one that others have added since then too, and names all of them in a warning. " +
	"To be bound to what the plan names, import the zone instead. After that, a record that appears after a plan is left alone, with a warning; the next plan names it. " +
	"A refresh shows what others have added as a change of `records`.\n\n" +
	"Your own SPF, DMARC and MX records at the domain replace the system-managed ones of that kind, which return when you remove the last of yours.\n\n" +
	"Destroying it deletes the records that it created or took over. Records that others have added since the last apply stay. " +
	"To stop managing the domain's records without deleting them, use a `removed` block with `destroy = false`.\n\n" +
	"Don't use `mailhost_dns_record` for the same domain in one configuration, except for names that `ignore` matches; the plan refuses that where it can see both.\n\n" +
	"An API with the published operations only can't list, change or delete DNS records. There the resource creates records and trusts the state: it can't see others, and the plan warns of each record that remains."

// defaultTimeout limits each operation.
const defaultTimeout = 20 * time.Minute

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": service.ComputedString("UUID of the domain."),
		"domain": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.DomainRef,
			PlanModifiers:       []planmodifier.String{service.KeepDomainRef("domain_id"), stringplanmodifier.RequiresReplace()},
			MarkdownDescription: "Domain whose records these are, by name or UUID, for instance `mailhost_domain.main.name`. Changing it deletes the records from the old domain and takes the new one over.",
		},
		"records": schema.MapAttribute{
			Required:    true,
			ElementType: entryType,
			MarkdownDescription: "The records, by name and type, such as `\"@ MX\"`, `\"www CNAME\"` or `\"_imaps._tcp SRV\"`. A name is relative to the domain, or in full; `@` is the domain itself. " +
				"The types are those of `mailhost_dns_record`. Two keys that mean the same are an error.",
		},
		"ignore": schema.ListAttribute{
			Optional:    true,
			ElementType: types.StringType,
			MarkdownDescription: "Patterns for records that others manage; they are neither changed nor shown. A pattern is a name relative to the domain, in which `*` stands for any characters of one label, `**` for any characters and `?` for one character; " +
				"types may follow, separated by commas: `\"_acme-challenge**\"`, `\"dev TXT\"`, `\"*.dyn A,AAAA\"`. Only `@` and `**` match the domain itself. A key of `records` that a pattern matches is an error. " +
				"A record that a new pattern matches stays in the domain and is no longer managed.",
		},
		"purged": schema.ListAttribute{
			Computed:            true,
			ElementType:         types.StringType,
			MarkdownDescription: "The records that the resource removed when it took the domain over, or when `ignore` last changed: records that the state did not have. The plan names them in a warning. Null if there were none.",
		},
		"domain_id":   service.ComputedString("UUID of the domain."),
		"domain_name": service.ComputedString("Name of the domain, in ASCII."),
	}
}

// ttlLimits are those of the contract.
var ttlLimits = api.LimitsOf[api.CreateDNSRecordBody]("ttl")

// RecordFields returns the fields of an entry of records as Terraform sees them.
func RecordFields() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"ttl": schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: fmt.Sprintf("How long resolvers may cache the records, in seconds: between %d and %d. Default: `%d`.", *ttlLimits.Minimum, *ttlLimits.Maximum, api.DefaultDNSTTL),
		},
		"values": schema.ListAttribute{
			Required:    true,
			ElementType: types.StringType,
			MarkdownDescription: "The values, at least one, each as in a zone file: for instance `192.0.2.1` (A), `10 mail.example.com.` (MX: priority, host), `0 5 443 sip.example.com.` (SRV: priority, weight, port, target), `0 issue \"ca.example.net\"` (CAA). " +
				"A host name is complete, with or without the trailing dot. A TXT value is the text itself, of any length, or quoted strings. The order has no meaning.",
		},
	}
}

func settings() map[string]schema.Attribute {
	limit := func(operation string) string {
		return fmt.Sprintf("How long %s may take in all, such as `90s` or `1h`. Default: `%dm`. What is not done by then is an error, and the next apply continues.", operation, int(defaultTimeout.Minutes()))
	}
	a := timeouts.Attributes(context.Background(), timeouts.Opts{
		Create: true, CreateDescription: limit("a create"),
		Update: true, UpdateDescription: limit("an update"),
		Delete: true, DeleteDescription: limit("a destroy"),
	}).(schema.SingleNestedAttribute)
	a.MarkdownDescription = "How long operations may take."
	return map[string]schema.Attribute{"timeouts": a}
}
