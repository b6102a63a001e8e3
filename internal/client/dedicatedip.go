package client

import (
	"context"
	"iter"
	"net/netip"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var dedicatedIPKind = kind[api.DedicatedIP]{
	noun: "dedicated IP",
	id:   func(d *api.DedicatedIP) string { return d.ID },
	fold: foldID,
}

// ListDedicatedIPs returns the dedicated IPs that match the request's filters.
func (c *Client) ListDedicatedIPs(ctx context.Context, req api.ListDedicatedIPsRequest) iter.Seq2[api.DedicatedIP, error] {
	return sweep(ctx, c, api.ListDedicatedIPs, req, dedicatedIPKind.id)
}

// ListDedicatedIPOptions returns what can be claimed.
func (c *Client) ListDedicatedIPOptions(ctx context.Context) iter.Seq2[api.DedicatedIPOption, error] {
	return sweep(ctx, c, api.ListDedicatedIPOptions, api.ListDedicatedIPOptionsRequest{}, func(o *api.DedicatedIPOption) string { return o.ID })
}

// GetDedicatedIP reads a dedicated IP.
func (c *Client) GetDedicatedIP(ctx context.Context, id string) (*api.DedicatedIP, error) {
	return read(ctx, c, api.GetDedicatedIP, &api.DedicatedIPRequest{DedicatedIPID: id}, c.dedicatedIPs, id)
}

// FindDedicatedIP looks a dedicated IP up by its name or by one of its
// addresses.
func (c *Client) FindDedicatedIP(ctx context.Context, nameOrIP string) (*api.DedicatedIP, error) {
	list := c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{})
	found, err := matching(list, func(d *api.DedicatedIP) bool {
		return d.Name == nameOrIP || slices.ContainsFunc(d.IPAddresses, func(a api.IPAddress) bool { return sameIP(a.IP, nameOrIP) })
	})
	return only(dedicatedIPKind, nameOrIP, found, err)
}

func sameIP(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return a == b || errX == nil && errY == nil && x == y
}

// ClaimDedicatedIP claims an address out of an option. Claims of one client run
// one after the other: the list before and after a claim must differ by that
// claim alone.
func (c *Client) ClaimDedicatedIP(ctx context.Context, optionID string) (*api.DedicatedIP, error) {
	select {
	case c.claims <- struct{}{}:
		defer func() { <-c.claims }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	before := map[string]bool{}
	_, listErr := matching(c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{}), func(d *api.DedicatedIP) bool {
		before[d.ID] = true
		return false
	})
	req := &api.ClaimDedicatedIPRequest{Body: api.ClaimDedicatedIPBody{OptionID: optionID}}
	d, err := create(ctx, c, api.ClaimDedicatedIP, req, &creation[api.DedicatedIP]{
		object: "out of option " + optionID,
		id:     dedicatedIPKind.id,
		find: func(ctx context.Context) ([]api.DedicatedIP, error) {
			if listErr != nil { // without a list from before, no later one tells
				return nil, listErr
			}
			list := c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{})
			return matching(list, func(d *api.DedicatedIP) bool { return !before[d.ID] })
		},
		forget: c.dedicatedIPs.invalidate,
		paid:   true,
		may:    "an address may have been claimed",
		check:  "Check the account's dedicated IPs before trying again; one that is new can be imported.",
	})
	if err != nil {
		return nil, err
	}
	c.dedicatedIPs.upsert(*d)
	return d, nil
}

// ReleaseDedicatedIP gives a dedicated IP back.
func (c *Client) ReleaseDedicatedIP(ctx context.Context, id string) error {
	return remove(ctx, c, api.ReleaseDedicatedIP, &api.DedicatedIPRequest{DedicatedIPID: id}, c.dedicatedIPs, id)
}

// ReleasesDedicatedIPs reports whether this API is taken to have an operation that releases
// dedicated IPs; it may read one to find out.
func (c *Client) ReleasesDedicatedIPs(ctx context.Context, id string) bool {
	return c.offers(ctx, api.ReleaseDedicatedIP.Spec, api.GetDedicatedIP.Spec, func() error {
		_, err := c.GetDedicatedIP(ctx, id)
		return err
	})
}
