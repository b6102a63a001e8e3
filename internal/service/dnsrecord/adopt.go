package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"

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

// adopt returns the identical record that a conflict names, or nil.
//
// It is for an API without lifecycle operations, where the record can't be imported,
// and a later destroy only drops it from the state. The published API has no field for
// the id of an existing object; its message contains the id if the credential may see
// the record.
func adopt(ctx context.Context, c *client.Client, refusal error, plan model) *api.DNSRecord {
	id := ExistingID(refusal)
	if id == 0 || c.Supports(ctx, api.DeleteDNSRecord.Spec, strconv.FormatInt(id, 10)) {
		return nil
	}
	return &api.DNSRecord{
		ID: id, Name: plan.Name.ValueString(), Type: plan.Type.ValueString(), Value: plan.Value.ValueString(),
		TTL: plan.TTL.ValueInt64(), Priority: plan.Priority.ValueInt64Pointer(),
	}
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

// warnAdopted warns that the record existed before.
func warnAdopted(diags *diag.Diagnostics, plan model, id int64) {
	diags.AddWarning(fmt.Sprintf("The %s existed already", plan),
		fmt.Sprintf("Nothing was created. An identical record exists, with the id %d, and this API can neither import nor delete it, so this resource manages it from now on. "+
			"Its ttl is unknown and may differ from the configured one.\n\n"+
			"If another resource manages the record, remove one of the two. If it was created with the domain, like the DKIM record, it needs no resource: remove this one.", id))
}
