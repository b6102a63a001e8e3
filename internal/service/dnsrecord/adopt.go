package dnsrecord

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

var (
	// identical matches a message about an identical record, and not one about a record
	// that only excludes the new one, such as a CNAME.
	identical = regexp.MustCompile(`(?i)\b(identical|duplicate|same record|already exists|exists already)\b`)
	// namedID matches the id in such a message.
	namedID = regexp.MustCompile(`(?i)\bid\b[ :=#"']*(\d{1,16})\b`)
)

// adopt returns the identical record that a create met, or nil: the record that the lists
// have or, on an API that can't list records, the one that the conflict names. The published
// API has no field for the id of an existing object; its message contains the id if the
// credential may see the record.
func (r *Resource) adopt(ctx context.Context, c *client.Client, refusal error, plan model, in zone) (*api.DNSRecord, error) {
	found, err := plan.naturalKey().recordsIn(ctx, c, in)
	for _, record := range found {
		if !plan.isSame(&record) {
			continue
		}
		if plan.TTL.IsUnknown() || record.TTL == plan.TTL.ValueInt64() {
			return &record, nil
		}
		return c.UpdateDNSRecord(ctx, record.ID, api.UpdateDNSRecordBody{TTL: plan.TTL.ValueInt64Pointer()})
	}
	if id := ExistingID(refusal); id != 0 && errors.Is(err, client.ErrReadUnsupported) {
		return &api.DNSRecord{
			ID: id, Name: plan.Name.ValueString(), Type: plan.Type.ValueString(), Value: plan.Value.ValueString(),
			TTL: plan.TTL.ValueInt64(), Priority: plan.Priority.ValueInt64Pointer(),
		}, nil
	}
	return nil, nil
}

// isSame reports whether an existing record is the planned one, which the customer may have.
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
