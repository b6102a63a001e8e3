package dnszone

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// count returns a text such as "2 DNS records".
func count(n int) string { return fmt.Sprintf("%d DNS %s", n, report.Plural(n, "record", "records")) }

// warnPurged warns, in the apply that takes a domain over, about the removed records: others
// may have added records after the plan.
func warnPurged(diags *diag.Diagnostics, domain string, removed []record) {
	if len(removed) > 0 {
		diags.AddWarning(fmt.Sprintf("%s of %s %s removed", count(len(removed)), domain, report.Plural(len(removed), "was", "were")),
			fmt.Sprintf("The zone has taken the domain over, and records does not have:%s\n\nIf the plan knew the domain, it has named those that it had by then. To put one back, add it to records.", report.Bullets(lines(removed))))
	}
}

// warnReleased warns in a plan about records of the state that now match ignore.
func warnReleased(diags *diag.Diagnostics, domain string, released []record) {
	if len(released) > 0 {
		diags.AddAttributeWarning(path.Root("ignore"), fmt.Sprintf("The plan leaves %s of %s to others", count(len(released)), domain),
			"They stay in the domain, because ignore matches them now, and are only dropped from the state:"+report.FirstBullets(lines(released)))
	}
}

// warnAppeared warns in an apply about records that others added after the plan.
func warnAppeared(diags *diag.Diagnostics, domain string, appeared []record) {
	if len(appeared) > 0 {
		diags.AddWarning(fmt.Sprintf("%s of %s appeared after the plan", count(len(appeared)), domain),
			"They were left alone, because the plan did not name them. The next plan removes them unless you add them to records, or their names to ignore:"+report.FirstBullets(lines(appeared)))
	}
}

// warnEncoded warns in a plan about TXT values that do not exist yet and that another program has encoded.
func warnEncoded(diags *diag.Diagnostics, m model, entries []entry, existing map[record]int64) {
	if diags.HasError() {
		return
	}
	for _, e := range entries {
		var values []string
		for _, v := range e.values {
			if _, exists := existing[v.record]; !exists && v.isValid() && e.key.recordType == dnsdata.TypeTXT {
				values = append(values, v.record.rdata)
			}
		}
		dnsrecord.WarnEncoded(diags, recordsPath.AtMapKey(e.spelled), e.key.name, m.DomainLabel(m.Domain.ValueString(), m.DomainName.ValueString()), values...)
	}
}

// addSystemManaged adds an error for each wanted record at the name and type of a system-managed
// record that does not yield to others: the DKIM key. With two keys at one selector, verifiers may
// take either.
func addSystemManaged(diags *diag.Diagnostics, want []entry, system map[record]bool) {
	keys := map[recordKey]bool{}
	for r := range system {
		if r.purpose() == "" {
			keys[r.recordKey] = true
		}
	}
	for _, e := range want {
		for i, v := range e.values {
			switch {
			case !v.isValid() || !keys[v.record.recordKey]:
			case system[v.record]:
				addInvalid(diags, e.at(i), "value", errors.New("the record is system-managed: it was created with its domain, and exists as long as the domain. Remove it from records"))
			default:
				addInvalid(diags, e.at(i), "value", errors.New("the domain has a system-managed record of this name and type, which stays: with two DKIM keys, verifiers may take the wrong one. Choose another selector"))
			}
		}
	}
}

// addContradicting adds the error of a plan that also contains resources for single records of the zone.
func addContradicting(diags *diag.Diagnostics, domain string, records []session.PlannedRecord) {
	if len(records) == 0 {
		return
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Name+" "+r.Type)
	}
	slices.Sort(names)
	diags.AddError(fmt.Sprintf("Resources of their own manage DNS records of %s", domain),
		fmt.Sprintf("The zone has, or removes, records that a mailhost_dns_record of the same configuration creates, keeps or destroys. If this were applied, one of the two would change or delete what the other one manages. Nothing was changed.%s\n\n%s",
			report.FirstBullets(slices.Compact(names)), dnsrecord.ZoneAdvice))
}

// warnStaying warns in a plan that destroys a zone about the records of others.
func warnStaying(diags *diag.Diagnostics, domain string, staying []record) {
	if len(staying) > 0 {
		diags.AddWarning(fmt.Sprintf("%s of %s %s", count(len(staying)), domain, report.Plural(len(staying), "stays", "stay")), "Others have created them since the last apply, so the destroy leaves them:"+report.FirstBullets(lines(staying)))
	}
}

// warnUnseen, warnRemaining and warnBlindlyAdopted are for an API that can only create records.

func warnUnseen(diags *diag.Diagnostics, domain string) {
	diags.AddWarning("The zone of "+domain+" can't see the records of others",
		"According to its responses, this API has no operation that lists DNS records. The zone creates the records that the configuration has and trusts the state afterwards. Records of others stay, and a change from outside is never noticed.")
}

// warnRemaining warns, in the plan and in the apply, about records that can't be deleted.
func warnRemaining(diags *diag.Diagnostics, z zone, remaining []record) {
	if len(remaining) > 0 {
		slices.SortFunc(remaining, record.compare)
		diags.AddWarning(fmt.Sprintf("%s of %s will still exist", count(len(remaining)), z.name),
			fmt.Sprintf("This API has no operation that deletes a DNS record, so these are only dropped from Terraform's state. The domain's id is %s. Remove them in the service's own control panel:%s", z.id, report.Bullets(lines(remaining))))
	}
}

func warnBlindlyAdopted(diags *diag.Diagnostics, domain string, adopted []record) {
	if len(adopted) > 0 {
		slices.SortFunc(adopted, record.compare)
		diags.AddWarning(fmt.Sprintf("%s of %s existed already", count(len(adopted)), domain),
			"Nothing was created for them, and the zone manages them from now on. Their ttl is unknown and may differ from the configured one:"+report.FirstBullets(lines(adopted)))
	}
}
