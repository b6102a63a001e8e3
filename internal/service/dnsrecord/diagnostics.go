package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// errSystemManaged is the error of managing a record that was created with its domain.
var errSystemManaged = errors.New("the record is system-managed: it was created with its domain, and exists as long as the domain")

const systemManagedAdvice = "It needs no resource and can't have one. Remove the resource from the configuration."

// conflictAdvice returns what to do about the record that causes a conflict.
func conflictAdvice(ctx context.Context, c *client.Client, plan model, in zone) string {
	found, err := plan.naturalKey().recordsIn(ctx, c, in)
	if err != nil {
		return "This API can neither list nor import DNS records. If the record is yours, set on_existing = \"adopt\": the resource then manages the identical record that the API names. If the record is a DKIM record that was created with the domain, remove this resource from the configuration. " +
			"A name has one SPF and one DMARC record, and one MX record if it accepts no mail: merge the values into one record. " +
			"Otherwise remove the record in the service's own control panel and run apply again, or keep the record and remove this resource."
	}
	for _, record := range found {
		if prio := plan.Priority.ValueInt64Pointer(); prio != nil && record.Priority != nil && *prio != *record.Priority {
			continue
		}
		if record.IsSystemManaged {
			return fmt.Sprintf("The record %d is system-managed: it was created with its domain, and exists as long as the domain. %s", record.ID, systemManagedAdvice)
		}
		return fmt.Sprintf("The record exists, with the id %d. ", record.ID) + service.ExistingAdvice("mailhost_dns_record", plan.importID())
	}
	if kind := policyOf(plan.Type.ValueString(), plan.Value.ValueString()); kind != nil {
		return fmt.Sprintf("Merge the values into one %s record: import the existing one and change its value, or remove it first.", kind.noun)
	}
	return "Change the name or the type, or remove the other record first."
}

// addUpdateError reports why a record could not be changed.
func addUpdateError(diags *diag.Diagnostics, err error, state model) {
	summary := "Can't change the " + state.String()
	switch {
	case errors.Is(err, client.ErrUpdateUnsupported):
		diags.AddError(summary, fmt.Sprintf("This API has no operation that changes a DNS record. To get the record that the configuration describes:\n\n"+
			"1. Remove the record with the id %s, whose value is %s, in the service's own control panel.\n"+
			"2. Run `terraform apply -replace=mailhost_dns_record.<name>` with the address of this resource. It drops the old record from the state and creates the new one.\n\n"+
			"Without the first step the old record stays beside the new one, or the API refuses the new one (if only the ttl differs, or if the type is CNAME).",
			state.ID.ValueString(), shortened(state.Value.ValueString())))
	case client.IsConflict(err):
		service.AddErrorWithAdvice(diags, err, summary, fields, "If the same apply changes the other record too, run apply again: Terraform changes both concurrently. Create records of a list with for_each over the set of values; with count, each record becomes the next one when the list changes. "+
			"Otherwise change value or priority, or remove the other record first.")
	default:
		service.AddError(diags, err, summary, fields)
	}
}

// shortened returns a value for a message: the text of a TXT record without quotes, and
// the beginning of a long value.
func shortened(value string) string {
	const most = 100
	if text, err := dnsdata.Text(value); err == nil && strings.HasPrefix(value, `"`) {
		value = text
	}
	if runes := []rune(value); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return strconv.Quote(value)
}
