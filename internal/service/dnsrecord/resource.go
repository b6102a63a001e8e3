package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type Resource struct {
	service.Resource[located, model]
}

// fields maps the request's fields to attributes with other names.
var fields = report.Fields{"prio": "priority"}

func NewResource() resource.Resource {
	return service.Chain(&Resource{service.Resource[located, model]{Definition: Definition}})
}

func (r *Resource) Create(ctx context.Context, c *client.Client, plan model, req resource.CreateRequest, resp *resource.CreateResponse) {
	in, err := zoneOf(ctx, c, plan.Domain.ValueString())
	if err != nil {
		report.Error(&resp.Diagnostics, err, "Can't look up the domain of the "+plan.String(), nil)
		return
	}
	body := api.CreateDNSRecordBody{
		Domain: plan.Domain.ValueString(), Name: plan.Name.ValueString(), Type: plan.Type.ValueString(),
		Value: plan.Value.ValueString(), TTL: plan.TTL.ValueInt64Pointer(), Prio: plan.Priority.ValueInt64Pointer(),
	}
	if plan.TTL.IsUnknown() {
		body.TTL = nil // the API's default
	}
	created, err := Create(ctx, c, body)
	if err == nil && created.IsSystemManaged {
		err = errSystemManaged // found by the lookup after a lost response
	}
	if service.Adopts(plan.OnExisting) && client.IsConflict(err) {
		created, err = adopt(ctx, c, err, plan, in)
	}
	if err != nil {
		service.AddCreateError(ctx, c, &resp.Diagnostics, err, plan, plan.Domain.ValueString(), fields,
			func() string { return conflictAdvice(ctx, c, plan, in) })
		return
	}
	plan.setZone(in)
	plan.flatten(created)
	r.SetCreated(ctx, resp, c, &plan)
}

// Read takes the record's domain from the state, so that it need not search for it.
func (r *Resource) Read(ctx context.Context, c *client.Client, state *model, req resource.ReadRequest, resp *resource.ReadResponse) error {
	record, err := c.DNSRecords.Get(ctx, state.ID.ValueString())
	if err == nil {
		state.flatten(record)
	}
	return err
}

func (r *Resource) Update(ctx context.Context, c *client.Client, plan, state model, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	body := expandUpdate(plan, state)
	if body != (api.UpdateDNSRecordBody{}) {
		var record *api.DNSRecord
		var err error
		outlast(ctx, func() bool {
			record, err = c.UpdateDNSRecord(ctx, state.ID.ValueString(), body)
			return client.IsConflict(err)
		})
		if err != nil {
			addUpdateError(&resp.Diagnostics, err, state)
			return
		}
		plan.flatten(record)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *Resource) Delete(ctx context.Context, c *client.Client, state model, req resource.DeleteRequest, resp *resource.DeleteResponse) error {
	return c.DNSRecords.Delete(ctx, state.ID.ValueString())
}

func expandUpdate(plan, state model) api.UpdateDNSRecordBody {
	return api.UpdateDNSRecordBody{
		Value: attribute.Changed(plan.Value, state.Value, plan.Value.ValueStringPointer()),
		TTL:   attribute.Changed(plan.TTL, state.TTL, plan.TTL.ValueInt64Pointer()),
		Prio:  attribute.Changed(plan.Priority, state.Priority, plan.Priority.ValueInt64Pointer()),
	}
}

var (
	// identical matches a message about an identical record, and not one about a record
	// that only excludes the new one, such as a CNAME.
	identical = regexp.MustCompile(`(?i)\b(identical|duplicate|same record|already exists|exists already)\b`)
	// namedID matches the id in such a message.
	namedID = regexp.MustCompile(`(?i)\bid\b[ :=#"']*(\d{1,16})\b`)
)

// adopt returns the identical record after a conflict, with the planned settings, or else the
// create's error. On an API that can't list records, it returns the record that the conflict names:
// the published API returns the id of an existing record only in the message, if the credential may
// view the record.
func adopt(ctx context.Context, c *client.Client, refusal error, plan model, in session.Domain) (*api.DNSRecord, error) {
	found, err := plan.naturalKey().recordsIn(ctx, c, in)
	for _, record := range found {
		if !plan.isSame(&record) {
			continue
		}
		before := plan
		before.flatten(&record)
		if body := expandUpdate(plan, before); body != (api.UpdateDNSRecordBody{}) {
			return c.UpdateDNSRecord(ctx, strconv.FormatInt(record.ID, 10), body)
		}
		return &record, nil
	}
	if id := ExistingID(refusal); id != 0 && errors.Is(err, client.ErrReadUnsupported) {
		return &api.DNSRecord{ID: id, Name: plan.Name.ValueString()}, nil // the other values come from the plan
	}
	return nil, refusal
}

// isSame reports whether an existing record equals the planned record and is not system-managed.
func (m model) isSame(r *api.DNSRecord) bool {
	priority := m.Priority.ValueInt64Pointer()
	return !r.IsSystemManaged && r.Type == m.Type.ValueString() && m.sameValue(r.Value, m.Value.ValueString()) &&
		(priority == nil || r.Priority == nil || *priority == *r.Priority)
}

// ExistingID returns the id of the identical record that a conflict names, or 0.
func ExistingID(err error) int64 {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || !client.IsConflict(err) || len(refused.Problems) != 1 {
		return 0
	}
	msg := refused.Problems[0].Msg
	ids := namedID.FindAllStringSubmatch(msg, 2)
	if len(ids) != 1 || !identical.MatchString(msg) {
		return 0
	}
	id, err := strconv.ParseInt(ids[0][1], 10, 64)
	if err != nil {
		return 0
	}
	return id
}

var errSystemManaged = report.WithAdvice(errors.New("the record is system-managed: it was created with its domain, and exists as long as the domain"), systemManagedAdvice)

const systemManagedAdvice = "It needs no resource and can't have one. Remove the resource from the configuration."

// conflictAdvice returns advice about the record that causes a conflict.
func conflictAdvice(ctx context.Context, c *client.Client, plan model, in session.Domain) string {
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
		return fmt.Sprintf("The record exists, with the id %d. ", record.ID) + service.ExistsAdvice(typeName, plan.importID())
	}
	return exclusionAdvice(ctx, c, plan)
}

func addUpdateError(diags *diag.Diagnostics, err error, state model) {
	summary := "Can't change the " + state.String()
	switch {
	case errors.Is(err, client.ErrUpdateUnsupported):
		diags.AddError(summary, fmt.Sprintf("This API has no operation that changes a DNS record. To get the record that the configuration describes:\n\n"+
			"1. Remove the record with the id %s, whose value is %s, in the service's own control panel.\n"+
			"2. Run `terraform apply -replace=mailhost_dns_record.<name>` with the address of this resource. It drops the old record from the state and creates the new one.\n\n"+
			"Without the first step the old record stays beside the new one, or the API refuses the new one (if only the ttl differs, or if the type is CNAME).",
			state.ID.ValueString(), shortened(state.Value.ValueString())))
		return
	case client.IsConflict(err):
		err = report.WithAdvice(err, "If the same apply changes the other record too, run apply again: Terraform changes both concurrently. Create records of a list with for_each over the set of values; with count, each record becomes the next one when the list changes. "+
			"Otherwise change value or priority, or remove the other record first.")
	}
	report.Error(diags, err, summary, fields)
}

// shortened returns a value for a message: the text of a TXT record without quotes, and
// the beginning of a long value.
func shortened(value string) string {
	const most = 100
	if text, err := dnsdata.Text(value); err == nil {
		value = text
	}
	if runes := []rune(value); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return strconv.Quote(value)
}
