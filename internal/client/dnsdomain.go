package client

import (
	"context"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// recordDomains is in which domain each DNS record is, which the API's answers do
// not tell. The domains are gone through one after the other, each once for all
// records that are asked for, and only as far as need be: an import of all records
// of N domains costs N lists, and not that many for each record.
type recordDomains struct {
	busy  chan struct{} // of one place: who holds it may use the rest
	begun bool
	left  []api.Domain // to be gone through yet
	of    map[int64]*api.Domain
}

func newRecordDomains() *recordDomains {
	return &recordDomains{busy: make(chan struct{}, 1), of: map[int64]*api.Domain{}}
}

// DomainOfDNSRecord returns the domain that a record is in. Of one that was created
// since its domain was gone through, it is an error that IsNotFound reports.
func (c *Client) DomainOfDNSRecord(ctx context.Context, id int64) (*api.Domain, error) {
	in := c.recordDomains
	select {
	case in.busy <- struct{}{}:
		defer func() { <-in.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := in.begin(ctx, c); err != nil {
		return nil, err
	}
	for in.of[id] == nil && len(in.left) > 0 {
		if err := in.next(ctx, c); err != nil {
			return nil, err
		}
	}
	if d := in.of[id]; d != nil {
		return d, nil
	}
	return nil, notFound("domain of the " + dnsRecordKind.noun + " " + strconv.FormatInt(id, 10))
}

func (in *recordDomains) begin(ctx context.Context, c *Client) error {
	if in.begun {
		return nil
	}
	in.left = nil
	for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			return err
		}
		in.left = append(in.left, d)
	}
	in.begun = true
	return nil
}

// next goes through one domain.
func (in *recordDomains) next(ctx context.Context, c *Client) error {
	d := in.left[0]
	for r, err := range c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: d.ID}) {
		if err != nil {
			return err
		}
		in.of[r.ID] = &d
	}
	in.left = in.left[1:]
	return nil
}
