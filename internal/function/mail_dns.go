package function

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/maildns"
)

type checkResult struct {
	Check     string `tfsdk:"check"`
	Status    string `tfsdk:"status"`
	Message   string `tfsdk:"message"`
	Reference string `tfsdk:"reference"`
}

var checkMailDNS = providerFunction{
	name:    "check_mail_dns",
	summary: "Checks the DNS records of a domain for mail",
	description: "Checks what a domain publishes for its mail, without asking the DNS: its MX, SPF, DKIM and DMARC records, MTA-STS, TLS-RPT, a CNAME at the domain itself, and what Google, Yahoo and Microsoft demand of who sends many messages. " +
		"It returns a list of `{ check, status, message, reference }`. `status` is `ok`, `warning`, `failed`, or `skipped` if the records do not tell: a subdomain without a DMARC record needs the record of its organization.\n\n" +
		"Names are looked up as the DNS does: wildcards, aliases and delegations count. A domain with an SPF record that lets nobody send, such as `v=spf1 -all`, sends no mail and needs no key, whether or not it receives mail.\n\n" +
		"The lookups of SPF are counted as receivers count them, ten at most, through each `include` whose records are there. Those of other domains are named in the message.\n\n" +
		"Use it in a `check` block, in tests and in policies. `mailhostd check DOMAIN` makes the same checks with the DNS itself.",
	parameters: []function.Parameter{
		text("domain", "The domain, such as `example.com`."),
		function.DynamicParameter{Name: "records", MarkdownDescription: "Its records: `dns_records` of the data source `mailhost_dns_records`, which has the system-managed ones too, or a list of other objects with `name`, `type`, `value` and `priority`; or `records` of a `mailhost_dns_zone`. A name is relative to the `domain_name` of its object, or else to the domain. Records of other domains, and of types that mail does not need, are ignored. For a subdomain, pass the records of the domain above it, too: the DMARC record there may apply."},
	},
	returns: function.ListReturn{ElementType: types.ObjectType{AttrTypes: map[string]attr.Type{
		"check": types.StringType, "status": types.StringType, "message": types.StringType, "reference": types.StringType,
	}}},
	run: func(get getArguments) (any, error) {
		var domain string
		var given types.Dynamic
		get(&domain, &given)
		name, err := domainname.Normalize(domain)
		if err != nil {
			return nil, maildns.Problems{{Field: "domain", Element: -1, Text: err.Error()}}
		}
		records, problems := recordsIn(given.UnderlyingValue())
		if len(problems) > 0 {
			return nil, problems
		}
		zone, err := mailcheck.NewZone(name, records)
		if err != nil {
			return nil, maildns.Problems{{Field: "records", Element: -1, Text: err.Error()}}
		}
		var results []checkResult
		for _, r := range mailcheck.Check(context.Background(), name, zone.Selectors(), zone) {
			results = append(results, checkResult(r))
		}
		return results, nil
	},
}

const recordsForm = "must be a list of objects with name, type and value, or a map from name and type to { values }"

// recordsIn returns the records in an argument: a list of records, or the map of a zone.
func recordsIn(v attr.Value) (records []mailcheck.Record, problems maildns.Problems) {
	fail := func(element int, format string, args ...any) {
		problems = append(problems, maildns.Problem{Field: "records", Element: element, Text: fmt.Sprintf(format, args...)})
	}
	if sets, ok := membersOf(v); ok {
		for _, key := range slices.Sorted(maps.Keys(sets)) {
			fields := strings.Fields(key)
			set, _ := membersOf(sets[key])
			values, ok := set["values"].(interface{ Elements() []attr.Value })
			if len(fields) != 2 || !ok {
				fail(-1, "%.100q: %s", key, recordsForm)
				continue
			}
			for _, value := range values.Elements() {
				text, _ := textOf(value)
				records = append(records, mailcheck.Record{Name: fields[0], Type: fields[1], Value: text})
			}
		}
		return records, problems
	}
	list, ok := v.(interface{ Elements() []attr.Value })
	if !ok {
		fail(-1, "%s", recordsForm)
		return nil, problems
	}
	for i, element := range list.Elements() {
		o := &options{}
		if o.remaining, ok = membersOf(element); !ok {
			fail(i, "%s", recordsForm)
			continue
		}
		r := mailcheck.Record{Name: o.text("name"), Type: o.text("type"), Value: o.text("value"), Priority: o.number("priority"), Domain: o.text("domain_name")}
		if len(o.problems) > 0 || r.Name == "" || r.Type == "" || r.Value == "" {
			fail(i, "%s", recordsForm)
		}
		records = append(records, r)
	}
	return records, problems
}

// membersOf returns the attributes of an object or the elements of a map.
func membersOf(v attr.Value) (map[string]attr.Value, bool) {
	switch v := v.(type) {
	case basetypes.DynamicValue:
		return membersOf(v.UnderlyingValue())
	case basetypes.ObjectValue:
		return maps.Clone(v.Attributes()), !v.IsNull()
	case basetypes.MapValue:
		return maps.Clone(v.Elements()), !v.IsNull()
	}
	return nil, false
}
