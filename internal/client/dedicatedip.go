package client

import (
	"context"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ListDedicatedIPs returns the dedicated IPs that match the request's filters.
func (c *Client) ListDedicatedIPs(ctx context.Context, req api.ListDedicatedIPsRequest) iter.Seq2[api.DedicatedIP, error] {
	req.CountryCode = strings.ToUpper(req.CountryCode)
	return list(ctx, c, api.ListDedicatedIPs, req, dedicatedIPKeys.ID)
}

// ListDedicatedIPOptions returns the options of a claim.
func (c *Client) ListDedicatedIPOptions(ctx context.Context) iter.Seq2[api.DedicatedIPOption, error] {
	return list(ctx, c, api.ListDedicatedIPOptions, api.ListRequest{}, func(o *api.DedicatedIPOption) string { return o.ID })
}

// FindDedicatedIP looks a dedicated IP up by its name or by one of its addresses.
func (c *Client) FindDedicatedIP(ctx context.Context, nameOrIP string) (*api.DedicatedIP, error) {
	found, err := filter(c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{}), func(d *api.DedicatedIP) bool {
		return d.Name == nameOrIP || slices.ContainsFunc(d.IPAddresses, func(a api.IPAddress) bool { return sameIP(a.IP, nameOrIP) })
	})
	return c.DedicatedIPs.one(nameOrIP, found, err)
}

func sameIP(a, b string) bool {
	x, _ := netip.ParseAddr(a)
	y, _ := netip.ParseAddr(b)
	return x.IsValid() && x == y
}

// ClaimDedicatedIP claims an address of an option. Claims of one client run one
// after the other, because a lookup recognises a new address by its absence from
// the list before the claim.
func (c *Client) ClaimDedicatedIP(ctx context.Context, optionID string) (*api.DedicatedIP, error) {
	if err := c.claims.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer c.claims.Release(1)
	before := map[string]bool{}
	_, listErr := filter(c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{}), func(d *api.DedicatedIP) bool {
		before[d.ID] = true
		return false
	})
	req := &api.ClaimDedicatedIPRequest{Body: api.ClaimDedicatedIPBody{OptionID: optionID}}
	return createIn(ctx, c.DedicatedIPs, api.ClaimDedicatedIP, req, createSpec[api.DedicatedIP]{
		object: "an address of option " + optionID,
		find: func(ctx context.Context) ([]api.DedicatedIP, error) {
			if listErr != nil { // without the earlier list, no address is recognised as new
				return nil, listErr
			}
			return filter(c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{}), func(d *api.DedicatedIP) bool { return !before[d.ID] })
		},
		facts:  facts{paid: true},
		effect: "an address may have been claimed",
		check:  "Check the account's dedicated IPs before trying again; one that is new can be imported.",
	})
}
