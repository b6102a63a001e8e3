package client

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// ListDNSRecords returns the records that match the request's filters.
func (c *Client) ListDNSRecords(ctx context.Context, req api.ListDNSRecordsRequest) iter.Seq2[api.DNSRecord, error] {
	return list(ctx, c, api.ListDNSRecords, req, dnsRecordKeys.ID)
}

// FindDNSRecords returns the records of a domain (id or name) with a type, name
// and value, in any spelling; an empty type or value matches every one.
func (c *Client) FindDNSRecords(ctx context.Context, domain, recordType, name, value string) ([]api.DNSRecord, error) {
	return c.findDNSRecords(ctx, api.CreateDNSRecordBody{Domain: domain, Type: recordType, Name: name, Value: value})
}

func (c *Client) findDNSRecords(ctx context.Context, want api.CreateDNSRecordBody) ([]api.DNSRecord, error) {
	zone := want.Domain
	if uuid.Validate(zone) == nil {
		d, err := c.Domains.Get(ctx, zone)
		if err != nil {
			return nil, err
		}
		zone = d.Name
	}
	records := c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: want.Domain, Type: want.Type, Name: want.Name})
	return filter(records, func(r *api.DNSRecord) bool {
		return (want.Type == "" || r.Type == want.Type) &&
			dnsdata.EqualNames(r.Name, want.Name, zone) &&
			(want.Value == "" || dnsdata.EqualValues(want.Type, r.Value, want.Value)) &&
			(want.Prio == nil || r.Priority != nil && *r.Priority == *want.Prio)
	})
}

// CreateDNSRecord creates a record.
func (c *Client) CreateDNSRecord(ctx context.Context, body api.CreateDNSRecordBody) (*api.DNSRecord, error) {
	return createIn(ctx, c.DNSRecords, api.CreateDNSRecord, &api.CreateDNSRecordRequest{Body: body}, createSpec[api.DNSRecord]{
		object: body.Type + " " + body.Name + " of " + body.Domain,
		find:   func(ctx context.Context) ([]api.DNSRecord, error) { return c.findDNSRecords(ctx, body) },
		// A system-managed record that yields to the new record is not the new record.
		same: func(r *api.DNSRecord) bool {
			return !(r.IsSystemManaged && dnsdata.PurposeOf(r.Type, r.Value) != "") && (body.TTL == nil || r.TTL == *body.TTL)
		},
		effect: "the record may have been created",
		check:  "Check the domain's DNS records before trying again.",
	})
}

// UpdateDNSRecord changes the fields of a record that are set in body.
func (c *Client) UpdateDNSRecord(ctx context.Context, id string, body api.UpdateDNSRecordBody) (*api.DNSRecord, error) {
	req := &api.UpdateDNSRecordRequest{DNSRecordID: dnsRecordID(id), Body: body}
	return update(ctx, c.DNSRecords, api.UpdateDNSRecord, req, id)
}
