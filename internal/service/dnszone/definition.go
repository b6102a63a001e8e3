// Package dnszone provides the resource mailhost_dns_zone: all DNS records of a domain.
//
// The state contains all records of the domain, except system-managed records and records that
// match ignore, so that a record added by others is a difference in the plan. An update removes
// only records named by its plan: records of the prior state, and records in purged if ignore
// changed. The private state lists the records that others added since the last apply, which a
// destroy leaves, and the records that match ignore.
//
// A create removes every other record present at the apply. Its plan names the records present
// at the plan, but can't bind the apply to them: core only compares known values, and reports a
// difference as a bug. The plan of an imported zone is binding.
//
// A failed create returns no state, because Terraform would replace a tainted zone, with
// all its records. The next create keeps the changes of the failed one.
package dnszone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

const typeName = "mailhost_dns_zone"

// Definition describes the resource. There are no data sources, because the data sources of
// DNS records list the records of a domain.
var Definition = &service.Definition[api.Domain, model]{
	Name: "dns_zone",
	Collection: service.Collection[api.Domain]{
		Noun: "DNS zone", Nouns: "DNS zones",
		Attributes: attributes,
		List:       service.Listed((*client.Client).ListDomains),
	},
	Flatten:  func(m *model, d *api.Domain) { m.setDomain(d.ID, attribute.DomainName(d.Name)) },
	Find:     (*client.Client).FindDomain,
	ImportBy: "the domain's name, such as example.com, or its UUID",
	Validate: func(_ context.Context, config model, diags *diag.Diagnostics) {
		domain := attribute.DomainName(config.Domain.ValueString())
		check(entriesOf(config.Records, domain), config.Ignore, domain, diags)
	},
	ResourceDescription: description,
	Settings:            settings,
	Volatile:            []string{"purged"},
	NaturalKeys:         func(of attribute.Raw) []string { return attribute.DomainKeys(of.Text, "") },
	ImportNotes:         map[string]any{originKey: origin{IsImported: true}},
	Losses:              losses,
	ReplacedBy:          []string{"domain"},
	IsValuable:          true,
	Listing: service.Listing[api.Domain, model]{
		Note: "Each domain is one zone, with all records but the system-managed ones.",
		Imported: func(ctx context.Context, c *client.Client, m *model) error {
			has, err := m.zone(c).read(ctx)
			m.Records = flatten(has.ttls(nil))
			return err
		},
	},
}

const description = "All DNS records of a domain. The resource owns the domain's records: what is in `records` exists, and **every other record is removed**, except those that `ignore` matches and the system-managed records that every domain comes with. " +
	"To manage single records and leave the others alone, use `mailhost_dns_record`.\n\n" +
	"Creating it takes the domain over: existing records that are in `records` are kept, missing ones are created, and the others are removed. The plan names each record that it removes; the apply removes one that others have added since then too, and names all of them in a warning. " +
	"To be bound to what the plan names, import the zone instead. After that, a record that appears after a plan is left alone, with a warning; the next plan names it. " +
	"A refresh shows what others have added as a change of `records`. The plan names each record that it removes, and is an error if it removes more names than `max_deletions` allows.\n\n" +
	"Your own SPF, DMARC and MX records at the domain replace the system-managed ones of that kind, which return when you remove the last of yours. A plan that changes the ones in force warns of it.\n\n" +
	"Destroying it deletes the records that it created or took over. Records that others have added since the last apply stay. " +
	"To stop managing the domain's records without deleting them, use a `removed` block with `destroy = false`.\n\n" +
	"Don't use `mailhost_dns_record` for the same domain in one configuration, except for names that `ignore` matches; the plan refuses that where it can see both.\n\n" +
	"An API with the published operations only can't list, change or delete DNS records. There the resource creates records and trusts the state: it can't see others, and the plan warns of each record that remains."

// defaultTimeout limits each operation.
const defaultTimeout = 20 * time.Minute

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":     attribute.ComputedString("UUID of the domain."),
		"domain": attribute.Domain("Domain whose records these are", "Changing it deletes the records from the old domain and takes the new one over."),
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
		"domain_id":   attribute.ComputedString("UUID of the domain."),
		"domain_name": attribute.ComputedString("Name of the domain, in ASCII."),
	}
}

// ttlField is the contract's description of a TTL.
var ttlField = api.FieldOf[api.CreateDNSRecordBody]("ttl")

// RecordFields returns the attributes of an entry of records.
func RecordFields() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"ttl": schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: fmt.Sprintf("How long resolvers may cache the records, in seconds: between %d and %d. Default: `%d` for a new key; the records of a key that exists keep their TTL.", *ttlField.Minimum, *ttlField.Maximum, api.DefaultDNSTTL),
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
	return map[string]schema.Attribute{
		"max_deletions": schema.Int64Attribute{
			Optional:   true,
			Validators: []validator.Int64{int64validator.AtLeast(0)},
			MarkdownDescription: fmt.Sprintf("How many names of the domain a plan may remove: names that lose all their records, whoever has created them. A plan that removes more is an error that names them, so that a zone file which was cut off deletes nothing. "+
				"A destroy of the resource is not limited. Default: %d names or %d %% of them, whichever is more.", mostRemoved, mostRemovedPercent),
		},
		"timeouts": attribute.Timeouts(timeouts.Opts{
			Create: true, CreateDescription: limit("a create"),
			Update: true, UpdateDescription: limit("an update"),
			Delete: true, DeleteDescription: limit("a destroy"),
		}),
	}
}

type model struct {
	service.InDomain

	ID           types.String      `tfsdk:"id"`
	Domain       customtype.String `tfsdk:"domain"`
	Records      types.Map         `tfsdk:"records"`
	Ignore       types.List        `tfsdk:"ignore"`
	Purged       types.List        `tfsdk:"purged"`
	DomainID     types.String      `tfsdk:"domain_id"`
	DomainName   types.String      `tfsdk:"domain_name"`
	MaxDeletions types.Int64       `tfsdk:"max_deletions"`
	Timeouts     timeouts.Value    `tfsdk:"timeouts"`
}

func (m model) String() string {
	return "DNS zone of " + m.DomainLabel(m.Domain.ValueString(), m.DomainName.ValueString(), m.ID.ValueString())
}

// mixedTTL is the TTL of an entry with records of different TTLs. It is not valid for a record.
const mixedTTL = 0

// entries returns the entries of records in a state, where a missing TTL means different TTLs.
func (m model) entries() []entry {
	all := entriesOf(m.Records, m.DomainName.ValueString())
	for i := range all {
		if all[i].ttl.IsNull() {
			all[i].ttl = types.Int64Value(mixedTTL)
		}
	}
	return all
}

func (m model) ignored() patterns {
	all, _ := patternsOf(m.Ignore, m.DomainName.ValueString())
	return all
}

func (m model) zone(c *client.Client) zone {
	return zone{client: c, id: m.ID.ValueString(), name: m.DomainName.ValueString()}
}

func (m *model) setDomain(id, name string) {
	m.ID, m.DomainID, m.DomainName = types.StringValue(id), types.StringValue(id), types.StringValue(name)
	m.Domain = customtype.KeepDomainRef(m.Domain, id, name)
}

var recordsPath = path.Root("records")

func (e entry) at(i int) path.Path {
	return recordsPath.AtMapKey(e.spelled).AtName("values").AtListIndex(i)
}

// check reports every problem of the entries and the patterns. It is called again once the
// domain is known: www and www.example.com may be the same name.
func check(entries []entry, ignore types.List, domain string, diags *diag.Diagnostics) {
	ignored, _ := patternsOf(ignore, domain)
	for i, p := range ignored {
		if p.err != nil {
			addInvalid(diags, path.Root("ignore").AtListIndex(i), "pattern", p.err)
		}
	}
	first := map[recordKey]entry{}
	for _, e := range entries {
		at := recordsPath.AtMapKey(e.spelled)
		if e.keyErr != nil {
			addInvalid(diags, at, "key", e.keyErr)
			continue
		}
		if other, exists := first[e.key]; exists {
			addInvalid(diags, at, "key", fmt.Errorf("it means the same as the key %q; put all values into one of the two", other.spelled))
		} else {
			first[e.key] = e
		}
		if i := ignored.index(e.key); i >= 0 {
			addInvalid(diags, at, "key", fmt.Errorf("ignore leaves these records to others: the pattern number %d matches the key. Remove the key or the pattern", i+1))
		}
		if ttl := e.ttl.ValueInt64(); !e.ttl.IsNull() && !e.ttl.IsUnknown() && ttlField.Check(ttl) != nil {
			addInvalid(diags, at.AtName("ttl"), "ttl", fmt.Errorf("must be between %d and %d, got %d", *ttlField.Minimum, *ttlField.Maximum, ttl))
		}
		e.checkValues(domain, diags)
	}
	checkBeside(entries, first, diags)
}

// checkValues reports the problems of each value, and of the values together.
func (e entry) checkValues(domain string, diags *diag.Diagnostics) {
	if e.isMissing || e.isKnown && len(e.values) == 0 {
		addInvalid(diags, recordsPath.AtMapKey(e.spelled).AtName("values"), "list", errors.New("it must have at least one value; to have no such records, remove the key"))
	}
	first, ofPurpose := map[record]int{}, map[dnsdata.Purpose]int{}
	for i, v := range e.values {
		switch {
		case v.spelled.IsUnknown():
			continue
		case v.spelled.IsNull():
			addInvalid(diags, e.at(i), "value", errors.New("it must not be null"))
			continue
		case v.err != nil:
			addInvalid(diags, e.at(i), "value", v.err)
			continue
		}
		if j, exists := first[v.record]; exists {
			addInvalid(diags, e.at(i), "value", fmt.Errorf("it means the same as values[%d]; remove one of the two", j))
			continue
		}
		first[v.record] = i
		purpose := v.record.purpose()
		j, isSecond := ofPurpose[purpose]
		switch {
		case e.key.recordType == dnsdata.TypeCNAME && domain != "" && dnsdata.EqualsTarget(e.key.name, domain, v.record.rdata):
			addInvalid(diags, e.at(i), "value", errors.New("a CNAME must not point to its own name"))
		case e.key.recordType == dnsdata.TypeCNAME && len(e.values) > 1 && i > 0:
			addInvalid(diags, e.at(i), "value", errors.New("a name has at most one CNAME"))
		case v.record.isNullMX() && len(e.values) > 1:
			addInvalid(diags, e.at(i), "value", errors.New("a null MX excludes other MX records at its name (RFC 7505)"))
		case isSecond && purpose.Single():
			addInvalid(diags, e.at(i), "value", fmt.Errorf("a name has at most one %s record, because receivers ignore both of two; put all into values[%d]", purpose, j))
		}
		ofPurpose[purpose] = i
	}
}

// checkBeside reports CNAMEs at names with other records.
func checkBeside(entries []entry, byKey map[recordKey]entry, diags *diag.Diagnostics) {
	for _, e := range entries {
		if e.keyErr != nil || e.key.recordType == dnsdata.TypeCNAME {
			continue
		}
		if cname, ok := byKey[recordKey{e.key.name, dnsdata.TypeCNAME}]; ok {
			addInvalid(diags, recordsPath.AtMapKey(e.spelled), "key", fmt.Errorf("the name has the CNAME %q, and a CNAME excludes other records at its name", cname.spelled))
		}
	}
	if cname, ok := byKey[recordKey{"@", dnsdata.TypeCNAME}]; ok {
		addInvalid(diags, recordsPath.AtMapKey(cname.spelled), "key", errors.New("the domain itself can't be a CNAME, because it has other records (RFC 1034, section 3.6.2)"))
	}
}

// addInvalid adds an error at an element of the configuration. The message begins with the
// path, because some CLIs show only the first line of the resource.
func addInvalid(diags *diag.Diagnostics, at path.Path, what string, err error) {
	diags.AddAttributeError(at, "Invalid "+what, report.ReasonAt(at, err.Error()))
}
