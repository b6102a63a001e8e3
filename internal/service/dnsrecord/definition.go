// Package dnsrecord provides the resource mailhost_dns_record with its data sources and
// list resource. description and addUpdateError name the attributes that can change.
package dnsrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
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
		List:       service.List[located]{Filters: attribute.FiltersOf[api.ListDNSRecordsRequest](), All: listRecords},
	},
	CanonicalID: canonicalID,
	Flatten: func(m *model, r *located) {
		m.setZone(r.zone)
		m.flatten(&r.DNSRecord)
	},
	Find: func(c *client.Client, ctx context.Context, key string) (*located, error) {
		k, err := parseKey(key)
		if err != nil {
			return nil, err
		}
		return k.find(ctx, c, false)
	},
	FindBy:              find,
	ImportBy:            keyForms,
	Validate:            validateConfig,
	ResourceDescription: description,
	Settings: func() map[string]schema.Attribute {
		return map[string]schema.Attribute{"on_existing": service.OnExisting[api.UpdateDNSRecordBody]("an identical record", "", "value", "prio")}
	},
	NaturalKeys:     naturalKeys,
	PlannedValues:   plannedValues,
	ReplacedBy:      []string{"domain", "name", "type"},
	Losses:          losses,
	DeleteOperation: api.DeleteDNSRecord.Spec,
	OrphanConsequence: func(_ context.Context, _ *client.Client, m model) string {
		return "It is still served, with the value " + shortened(m.Value.ValueString()) + "."
	},
	Single: service.Single[located]{
		Description: "A DNS record that exists, by its id, or by its domain, type and name, and its value where there are several. " +
			"It also finds the records that every domain comes with, such as the DKIM record.",
		Keys: []attribute.Filter{
			attribute.NewFilter("id", "Id of the record: a number, in decimal. Set it, or `name` with `domain` and `type`.",
				validate.Rule("a number such as 1042", checkID)),
			attribute.NewFilter("name", "Name of the record: relative to the domain, such as `www`, or in full, such as `www.example.com`, which ends in the domain; `@` is the domain itself. Set it with `domain` and `type`, or set `id`.",
				customtype.DNSName.Validator(), stringvalidator.AlsoRequires(path.MatchRoot("domain"), path.MatchRoot("type"))),
		},
		Qualifiers: []attribute.Filter{
			attribute.NewFilter("domain", "Domain of the record, by name or UUID. Set it with `name`.",
				customtype.DomainRef.Validator(), withoutID),
			attribute.NewFilter("type", "Type of the record: "+recordType.MarkdownDescription(context.Background())+". Set it with `name`.",
				recordType, withoutID),
			attribute.NewFilter("value", "Value of the record, in the form of its type and without the priority. Set it if there are several records of the type at the name.", withoutID),
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

const description = "A DNS record of a domain.\n\n" +
	"Every domain comes with the records that its mail needs: MX, SPF, DKIM and DMARC. They are system-managed and exist as long as the domain; they need no resource and can't have one. To own all records of a domain, use `mailhost_dns_zone`; a plan that has both for one record is an error.\n\n" +
	"To set your own policy, create the record: a TXT record at `@` that begins with `v=spf1`, one at `_dmarc` that begins with `v=DMARC1`, and MX records at `@` replace the system-managed ones of that kind. Those return when you delete the last of yours. " +
	"A name has one SPF and one DMARC record; a second one is an error. DKIM records are not replaced.\n\n" +
	"An API with the published operations only can create a record, but not read, change or delete it. There a refresh keeps the state as it is; a change of `value`, `ttl` or `priority` is an error that explains " +
	"how to replace the record; a destroy drops the record from the state with a warning; and no record can be imported. If an identical record exists, only the apply knows it: it fails, or adopts the record with `on_existing = \"adopt\"` if the API returns its id."

// recordType validates a type.
var recordType = validate.OneOf[api.CreateDNSRecordBody]("type")

func attributes() map[string]schema.Attribute {
	ctx := context.Background()
	ttl := validate.Range[api.CreateDNSRecordBody]("ttl")
	priority := validate.Range[api.CreateDNSRecordBody]("prio")
	return map[string]schema.Attribute{
		"id":     attribute.ComputedString("Id of the record: a number, in decimal."),
		"domain": attribute.Domain("Domain of the record", "Changing it replaces the record."),
		"name": schema.StringAttribute{
			Required:   true,
			CustomType: customtype.DNSName,
			PlanModifiers: []planmodifier.String{attribute.KeepPrior(func(prior attribute.Raw, a, b string) bool {
				return dnsdata.EqualNames(a, b, prior.Text("domain_name"))
			})},
			MarkdownDescription: "Name of the record: relative to the domain, such as `www`, or in full, such as `www.example.com`, which ends in the domain; `@` is the domain itself. Changing it replaces the record.",
		},
		"type": attribute.Argument[api.CreateDNSRecordBody]("type",
			fmt.Sprintf("Type of the record: %s. Changing it replaces the record.", recordType.MarkdownDescription(ctx))),
		"value": schema.StringAttribute{
			Required:      true,
			PlanModifiers: []planmodifier.String{attribute.KeepPrior(func(prior attribute.Raw, a, b string) bool { return dnsdata.EqualValues(prior.Text("type"), a, b) })},
			MarkdownDescription: "Value of the record, in the form of its type, without the priority: for instance `192.0.2.1` (A), `mail.example.com` (MX), `5 443 sip.example.com` (SRV: weight, port, target), `0 issue \"ca.example.net\"` (CAA). " +
				"A TXT value is the text itself, of any length, or quoted strings as in a zone file, which are joined.",
		},
		"ttl": schema.Int64Attribute{
			Optional: true, Computed: true,
			Validators: []validator.Int64{ttl},
			MarkdownDescription: fmt.Sprintf("How long resolvers may cache the record, in seconds: %s. If you omit it, a new record has `%d`, and every other record keeps its TTL: one that is adopted or imported, and one whose configuration had it before.",
				ttl.MarkdownDescription(ctx), api.DefaultDNSTTL),
		},
		"priority": attribute.Argument[api.CreateDNSRecordBody]("prio",
			fmt.Sprintf("Priority of an MX or SRV record, the lowest first: %s. Required for these types; other types have none.", priority.MarkdownDescription(ctx))),
		"domain_id":   attribute.ComputedString("UUID of the domain; null if the credential may not see the domain."),
		"domain_name": attribute.ComputedString("Name of the domain, in ASCII."),
		"fqdn":        attribute.ComputedString("Full name of the record in ASCII, without a trailing dot."),
	}
}

type model struct {
	service.InDomain

	ID              types.String      `tfsdk:"id"`
	Domain          customtype.String `tfsdk:"domain"`
	Name            customtype.String `tfsdk:"name"`
	Type            types.String      `tfsdk:"type"`
	Value           types.String      `tfsdk:"value"`
	TTL             types.Int64       `tfsdk:"ttl"`
	Priority        types.Int64       `tfsdk:"priority"`
	IsSystemManaged types.Bool        `tfsdk:"is_system_managed"`
	DomainID        types.String      `tfsdk:"domain_id"`
	DomainName      types.String      `tfsdk:"domain_name"`
	FQDN            types.String      `tfsdk:"fqdn"`
	OnExisting      types.String      `tfsdk:"on_existing"`
}

func (m model) String() string {
	if m.Type.ValueString() == "" { // an import found no record
		return "DNS record " + m.ID.ValueString()
	}
	k := m.naturalKey()
	return fmt.Sprintf("%s record %s of %s", k.recordType, k.name, k.domain)
}

// naturalKey returns the record's natural key, with the names in the API's form.
func (m model) naturalKey() recordKey {
	k := recordKey{domain: m.DomainLabel(m.Domain.ValueString(), m.DomainName.ValueString()), recordType: m.Type.ValueString(), name: m.Name.ValueString(), value: m.Value.ValueString()}
	if relative, err := dnsdata.NormalizeName(k.name, attribute.DomainName(k.domain)); err == nil {
		k.name = relative
	}
	return k
}

// naturalKeys returns the keys of a record in the walk: its name, type, value and priority in each
// form of its domain.
func naturalKeys(of attribute.Raw) []string {
	name, recordType, value, priority := of.Text("name"), of.Text("type"), of.Text("value"), of.Text("priority")
	if name == "" || recordType == "" || value == "" || priority == "" && !of["priority"].IsNull() {
		return nil
	}
	if relative, err := dnsdata.NormalizeName(name, cmp.Or(of.Text("domain_name"), attribute.DomainName(of.Text("domain")))); err == nil {
		name = relative
	}
	if canonical, err := dnsdata.NormalizeValue(recordType, value); err == nil {
		value = canonical
	}
	return attribute.DomainKeys(of.Text, name+" "+recordType+" "+value+" "+priority+" ")
}

func (m model) importID() string {
	k := m.naturalKey()
	return strings.Join([]string{k.domain, k.recordType, k.name, k.value}, "/")
}

func (m model) sameValue(a, b string) bool {
	return dnsdata.EqualValues(m.Type.ValueString(), a, b)
}

func (m *model) setZone(z session.Domain) {
	m.Domain = customtype.KeepDomainRef(m.Domain, z.ID, z.Name)
	if m.DomainID = types.StringValue(z.ID); z.ID == "" {
		m.DomainID = types.StringNull()
	}
	m.DomainName = types.StringValue(z.Name)
}

// flatten sets the model from a response, after setZone. It keeps the prior spelling of an equal name
// and value.
func (m *model) flatten(r *api.DNSRecord) {
	before := *m
	attribute.Flatten(m, r)
	if dnsdata.EqualNames(before.Name.ValueString(), r.Name, m.DomainName.ValueString()) {
		m.Name = before.Name
	}
	if m.sameValue(before.Value.ValueString(), r.Value) {
		m.Value = before.Value
	}
	m.FQDN = types.StringValue(fqdn(r.Name, m.DomainName.ValueString()))
}

func fqdn(name, zone string) string {
	relative, err := dnsdata.NormalizeName(name, zone)
	switch {
	case err != nil:
		relative = name
	case relative == "@":
		return zone
	}
	return relative + "." + zone
}

// validateConfig checks the known values of attributes that depend on each other.
func validateConfig(_ context.Context, m model, diags *diag.Diagnostics) {
	name, domain := m.Name.ValueString(), attribute.DomainName(m.Domain.ValueString())
	if domain != "" && dnsdata.ValidateName(name) == nil {
		if _, err := dnsdata.NormalizeName(name, domain); err != nil {
			report.InvalidValue(diags, "name", err)
		}
	}
	recordType := m.Type.ValueString()
	if _, err := dnsdata.NormalizeType(recordType); err != nil {
		return
	}
	if !m.Value.IsNull() && !m.Value.IsUnknown() {
		if _, err := dnsdata.NormalizeValue(recordType, m.Value.ValueString()); err != nil {
			report.InvalidValue(diags, "value", err)
		}
	}
	if m.Priority.IsUnknown() {
		return
	}
	switch p := api.CheckPriority(recordType, !m.Priority.IsNull()); {
	case p == nil:
	case p.Type == api.TypeMissing:
		diags.AddAttributeError(path.Root("priority"), "Missing priority",
			fmt.Sprintf("A record of the type %s needs a priority, for instance priority = 10. The record with the lowest priority comes first.", recordType))
	default:
		report.InvalidValue(diags, "priority", errors.New(p.Msg))
	}
}
