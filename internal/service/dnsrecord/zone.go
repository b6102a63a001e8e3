package dnsrecord

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// ZoneAdvice explains how to give each record one resource.
const ZoneAdvice = "A mailhost_dns_zone has all records of its domain except those that ignore matches, and removes the others.\n\n" +
	"- To keep the record in the zone, put it into the zone's records, and remove the mailhost_dns_record from the configuration and, with a removed block with lifecycle { destroy = false }, from the state.\n" +
	"- To keep the mailhost_dns_record, add the record's name and type to the zone's ignore."

// checkZone adds an error if the same plan has a mailhost_dns_zone for the record.
func (r *Resource) checkZone(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if resp.Diagnostics.HasError() {
		return
	}
	var m model
	isDestroyed := req.Plan.Raw.IsNull()
	if isDestroyed {
		resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	} else {
		resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	}
	if resp.Diagnostics.HasError() || m.Domain.IsUnknown() || m.Name.IsUnknown() || m.Type.IsUnknown() {
		return
	}
	in := session.Domain{ID: m.DomainID.ValueString(), Name: m.DomainName.ValueString()}
	if ref := m.Domain.ValueString(); in == (session.Domain{}) {
		in.Name = ZoneName(ref)
		if uuid.Validate(ref) == nil {
			in.ID = ref
		}
	}
	if r.Walk().PlanRecord(session.PlannedRecord{Domain: in, Name: m.Name.ValueString(), Type: m.Type.ValueString(), IsDestroyed: isDestroyed}) {
		resp.Diagnostics.AddError("A DNS zone has the "+m.String()+" too",
			fmt.Sprintf("A mailhost_dns_zone of the same configuration manages the DNS records of %s. If this were applied, one of the two would change or delete what the other one manages. Nothing was changed.\n\n%s", m.Domain.ValueString(), ZoneAdvice))
	}
}
