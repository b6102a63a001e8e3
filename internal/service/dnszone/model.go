package dnszone

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
)

type model struct {
	ID         types.String      `tfsdk:"id"`
	Domain     customtype.String `tfsdk:"domain"`
	Records    types.Map         `tfsdk:"records"`
	Ignore     types.List        `tfsdk:"ignore"`
	Purged     types.List        `tfsdk:"purged"`
	DomainID   types.String      `tfsdk:"domain_id"`
	DomainName types.String      `tfsdk:"domain_name"`
	Timeouts   timeouts.Value    `tfsdk:"timeouts"`
}

func (m model) String() string {
	return "DNS zone of " + cmp.Or(m.Domain.ValueString(), m.ID.ValueString())
}

// mixedTTL is the TTL of an entry whose records have different ones, as no record can have it.
const mixedTTL = 0

// entries returns the entries of records in a state, where a missing TTL means different ones.
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

func (r *Resource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	domain := dnsrecord.ZoneName(config.Domain.ValueString())
	check(entriesOf(config.Records, domain), config.Ignore, domain, &resp.Diagnostics)
}

var recordsPath = path.Root("records")

func (e entry) at(i int) path.Path {
	return recordsPath.AtMapKey(e.spelled).AtName("values").AtListIndex(i)
}

// check reports every problem of the entries and the patterns. Names are compared
// once more when the domain is known: www and www.example.com may be the same.
func check(entries []entry, ignore types.List, domain string, diags *diag.Diagnostics) {
	ignored := checkPatterns(ignore, domain, diags)
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
		if ttl := e.ttl.ValueInt64(); !e.ttl.IsNull() && !e.ttl.IsUnknown() && (ttl < *ttlLimits.Minimum || ttl > *ttlLimits.Maximum) {
			addInvalid(diags, at.AtName("ttl"), "ttl", fmt.Errorf("must be between %d and %d, got %d", *ttlLimits.Minimum, *ttlLimits.Maximum, ttl))
		}
		e.checkValues(domain, diags)
	}
	checkBeside(entries, first, diags)
}

func checkPatterns(ignore types.List, domain string, diags *diag.Diagnostics) patterns {
	for i, element := range ignore.Elements() {
		s, _ := element.(types.String)
		if s.IsUnknown() {
			continue
		}
		if _, err := parsePattern(s.ValueString(), domain); err != nil {
			addInvalid(diags, path.Root("ignore").AtListIndex(i), "pattern", err)
		}
	}
	all, _ := patternsOf(ignore, domain)
	return all
}

// checkValues reports the problems of the entry's values, each by itself and with the
// others.
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
			addInvalid(diags, e.at(i), "value", fmt.Errorf("a name has at most one %s record, because of two receivers take neither; put all into values[%d]", purpose, j))
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
	diags.AddAttributeError(at, "Invalid "+what, service.ReasonAt(at, err.Error()))
}
