package dnsrecord

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// Core deletes a record and creates another one at its name in any order, if two resources describe them.
// The API refuses the new one as long as the old one excludes it, as a CNAME or a policy does.

// firstPause and lastPause limit the pauses between two attempts: they double, and last three seconds in all.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 1600 * time.Millisecond
)

// outlast repeats an attempt until it meets no conflict, for about three seconds: the apply may be
// deleting the record in the way. It waits for no other call.
func outlast(ctx context.Context, attempt func() (isInConflict bool)) {
	for pause := firstPause; attempt() && pause <= lastPause; pause *= 2 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// Create creates a record. It repeats a create that another record excludes, because the apply may be
// deleting that record.
func Create(ctx context.Context, c *client.Client, body api.CreateDNSRecordBody) (created *api.DNSRecord, err error) {
	wasGone := false
	outlast(ctx, func() bool {
		created, err = c.CreateDNSRecord(ctx, body)
		if !client.IsConflict(err) || identical.MatchString(err.Error()) {
			return false
		}
		other, lookup := excluding(ctx, c, body)
		// No such record twice in a row means that the conflict has another cause.
		isFinal := lookup != nil || other == nil && wasGone
		wasGone = other == nil
		return !isFinal
	})
	return created, err
}

// excluding returns a record that excludes the record of a create, or nil. A system-managed record
// either yields to a new record or stays as long as its domain.
func excluding(ctx context.Context, c *client.Client, body api.CreateDNSRecordBody) (*api.DNSRecord, error) {
	found, err := c.FindDNSRecords(ctx, body.Domain, "", body.Name, "")
	purpose := dnsdata.PurposeOf(body.Type, body.Value)
	for _, r := range found {
		isSameType := r.Type == body.Type
		switch {
		case r.IsSystemManaged, isSameType && dnsdata.EqualValues(r.Type, r.Value, body.Value):
		case body.Type == dnsdata.TypeCNAME, r.Type == dnsdata.TypeCNAME,
			isSameType && purpose.Single() && dnsdata.PurposeOf(r.Type, r.Value) == purpose,
			isSameType && (dnsdata.IsNullMX(body.Type, body.Value) || dnsdata.IsNullMX(r.Type, r.Value)):
			return &r, err
		}
	}
	return nil, err
}

// exclusionAdvice returns advice after a conflict with a record that is not identical.
func exclusionAdvice(ctx context.Context, c *client.Client, plan model) string {
	other, err := excluding(ctx, c, api.CreateDNSRecordBody{
		Domain: plan.Domain.ValueString(), Name: plan.Name.ValueString(), Type: plan.Type.ValueString(), Value: plan.Value.ValueString(),
	})
	switch {
	case err == nil && other == nil:
		return "The record that was in the way is gone now. Run apply again."
	case other == nil:
		return "Change the name or the type, or remove the other record first. If this apply removes it, run apply again."
	}
	next := "Change the name or the type, or remove that record first."
	if purpose := dnsdata.PurposeOf(other.Type, other.Value); purpose.Single() {
		next = "Merge the values into one " + purpose.String() + " record: import that one and change its value, or remove it first."
	}
	return "The " + other.Type + " record " + strconv.FormatInt(other.ID, 10) + " is in the way. If this apply removes it too, run apply again, and remove create_before_destroy, with which the old record never goes first. Otherwise:\n\n" + next
}
