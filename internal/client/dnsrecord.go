package client

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

var dnsRecordKind = kind[api.DNSRecord]{
	noun: "DNS record",
	id:   func(r *api.DNSRecord) string { return strconv.FormatInt(r.ID, 10) },
	fold: foldID,
}

// ListDNSRecords returns the records that match the request's filters.
func (c *Client) ListDNSRecords(ctx context.Context, req api.ListDNSRecordsRequest) iter.Seq2[api.DNSRecord, error] {
	return sweep(ctx, c, api.ListDNSRecords, req, dnsRecordKind.id)
}

// GetDNSRecord reads a record. An API without lifecycle operations can't:
// ErrReadUnsupported.
func (c *Client) GetDNSRecord(ctx context.Context, id int64) (*api.DNSRecord, error) {
	return read(ctx, c, api.GetDNSRecord, &api.DNSRecordRequest{DNSRecordID: id}, c.dnsRecords, recordKey(id))
}

// FindDNSRecords returns the records of a domain (id or name) that have a type,
// name and value, in any spelling; an empty value matches every one. Together
// with the priority, of which it asks nothing, these name one record.
func (c *Client) FindDNSRecords(ctx context.Context, domain, recordType, name, value string) ([]api.DNSRecord, error) {
	return c.recordsLike(ctx, api.CreateDNSRecordBody{Domain: domain, Type: recordType, Name: name, Value: value})
}

// recordsLike lists the records that a request asks for, in any spelling.
func (c *Client) recordsLike(ctx context.Context, want api.CreateDNSRecordBody) ([]api.DNSRecord, error) {
	zone, err := c.domainName(ctx, want.Domain)
	if err != nil {
		return nil, err
	}
	list := c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: want.Domain, Type: want.Type, Name: want.Name})
	return matching(list, func(r *api.DNSRecord) bool {
		return r.Type == want.Type &&
			dnsdata.EqualNames(r.Name, want.Name, zone) &&
			(want.Value == "" || dnsdata.EqualValues(want.Type, r.Value, want.Value)) &&
			(want.Prio == nil || r.Priority != nil && *r.Priority == *want.Prio)
	})
}

// CreateDNSRecord creates a record. resumed reports that an earlier, interrupted run has
// created it.
func (c *Client) CreateDNSRecord(ctx context.Context, body api.CreateDNSRecordBody) (r *api.DNSRecord, resumed bool, err error) {
	cr := &creation[api.DNSRecord]{
		object: body.Type + " " + body.Name + " of " + body.Domain,
		id:     dnsRecordKind.id,
		find: func(ctx context.Context) ([]api.DNSRecord, error) {
			found, err := c.recordsLike(ctx, body)
			// A system-managed record that a new one replaces is not the new one, and
			// neither is an older record with another TTL.
			return slices.DeleteFunc(found, func(r api.DNSRecord) bool {
				return r.IsSystemManaged && dnsdata.PurposeOf(r.Type, r.Value) != "" || body.TTL != nil && r.TTL != *body.TTL
			}), err
		},
		forget: c.dnsRecords.invalidate,
		may:    "the record may have been created",
		check:  "Check the domain's DNS records before trying again.",
	}
	if r, err = create(ctx, c, api.CreateDNSRecord, &api.CreateDNSRecordRequest{Body: body}, cr); err != nil {
		return nil, false, err
	}
	c.dnsRecords.upsert(*r)
	return r, cr.resumed, nil
}

// UpdateDNSRecord changes what body names of a record.
func (c *Client) UpdateDNSRecord(ctx context.Context, id int64, body api.UpdateDNSRecordBody) (*api.DNSRecord, error) {
	req := &api.UpdateDNSRecordRequest{DNSRecordID: id, Body: body}
	reread := func(ctx context.Context, _ string) (*api.DNSRecord, error) { return c.GetDNSRecord(ctx, id) }
	return update(ctx, c, api.UpdateDNSRecord, req, c.dnsRecords, recordKey(id), reread)
}

// UpdatesDNSRecords reports whether this API is taken to have an operation that
// changes DNS records; it may read one to find out.
func (c *Client) UpdatesDNSRecords(ctx context.Context, id int64) bool {
	return c.offers(ctx, api.UpdateDNSRecord.Spec, api.GetDNSRecord.Spec, func() error {
		_, err := c.GetDNSRecord(ctx, id)
		return err
	})
}

// DeleteDNSRecord deletes a record.
func (c *Client) DeleteDNSRecord(ctx context.Context, id int64) error {
	return remove(ctx, c, api.DeleteDNSRecord, &api.DNSRecordRequest{DNSRecordID: id}, c.dnsRecords, recordKey(id))
}

// NoteRefreshedDNSRecord notes that Terraform has refreshed a record of its state.
func (c *Client) NoteRefreshedDNSRecord(id int64) { c.refreshedRecords.Store(id, true) }

// RefreshedDNSRecord reports whether a record was refreshed: the state has it, and
// the plan may replace or delete it.
func (c *Client) RefreshedDNSRecord(id int64) bool {
	_, refreshed := c.refreshedRecords.Load(id)
	return refreshed
}

// DeletesDNSRecords reports whether this API is taken to have an operation that deletes
// DNS records; it may read one to find out.
func (c *Client) DeletesDNSRecords(ctx context.Context, id int64) bool {
	return c.offers(ctx, api.DeleteDNSRecord.Spec, api.GetDNSRecord.Spec, func() error {
		_, err := c.GetDNSRecord(ctx, id)
		return err
	})
}

func recordKey(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}
