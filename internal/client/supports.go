package client

import (
	"context"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// reader is how Supports finds out whether this API has the lifecycle operations
// on one kind of object: an API has all of them or none.
type reader struct {
	get  api.Spec
	read func(c *Client, ctx context.Context, id string) error
}

// readers has the reader of each kind of object, by the tag of its operations.
var readers = map[string]reader{
	api.GetDedicatedIP.Tag:    {api.GetDedicatedIP.Spec, readWith((*Client).GetDedicatedIP)},
	api.GetDNSRecord.Tag:      {api.GetDNSRecord.Spec, readWith((*Client).getDNSRecord)},
	api.GetDomain.Tag:         {api.GetDomain.Spec, readWith((*Client).GetDomain)},
	api.GetForwarding.Tag:     {api.GetForwarding.Spec, readWith((*Client).GetForwarding)},
	api.GetMailbox.Tag:        {api.GetMailbox.Spec, readWith((*Client).GetMailbox)},
	api.GetMasterPassword.Tag: {api.GetMasterPassword.Spec, readWith((*Client).GetMasterPassword)},
	api.GetServiceAccount.Tag: {api.GetServiceAccount.Spec, readWith((*Client).GetServiceAccount)},
}

func readWith[T any](get func(*Client, context.Context, string) (*T, error)) func(*Client, context.Context, string) error {
	return func(c *Client, ctx context.Context, id string) error {
		_, err := get(c, ctx, id)
		return err
	}
}

// getDNSRecord is GetDNSRecord with the id as text.
func (c *Client) getDNSRecord(ctx context.Context, id string) (*api.DNSRecord, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, notFound("DNS record " + id)
	}
	return c.GetDNSRecord(ctx, number)
}

// Supports reports whether this API is assumed to have a lifecycle operation. It
// is, unless the API has turned out to lack that operation or the one that reads
// the same kind of object. If neither is known yet, Supports reads the object with
// the id. After a read that failed, it makes no other one for the same operation.
func (c *Client) Supports(ctx context.Context, op api.Spec, id string) bool {
	r := readers[op.Tag]
	known := func() bool { return c.operations.isKnown(op) || c.operations.isKnown(r.get) }
	if !known() {
		c.readOnce(ctx, op, known, func() error { return r.read(c, ctx, id) })
	}
	return !c.operations.isAbsent(op) && !c.operations.isAbsent(r.get)
}

// readOnce reads, unless another caller has found out meanwhile, or its read has
// failed: a read of any other object would fail too, after all attempts. An object
// that is gone is no failure, because the next one may exist.
func (c *Client) readOnce(ctx context.Context, op api.Spec, known func() bool, read func() error) {
	unlock, err := c.operations.lock(ctx, op)
	if err != nil {
		return
	}
	defer unlock()
	if _, failed := c.operations.failed.Load(op.ID); failed || known() {
		return
	}
	if err := read(); err != nil && !IsNotFound(err) && ctx.Err() == nil {
		c.operations.failed.Store(op.ID, true)
	}
}
