package dnszone

import (
	"context"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/dnsrecord"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// zone is a domain with the client that reads its records.
type zone struct {
	client *client.Client
	id     string
	name   string
}

func (z zone) domain() session.Domain { return session.Domain{ID: z.id, Name: z.name} }

// lookUp returns the zone of a domain by name or UUID.
func lookUp(ctx context.Context, c *client.Client, ref string) (zone, error) {
	d, err := c.GetDomain(ctx, ref)
	if err != nil {
		return zone{}, err
	}
	return zone{client: c, id: d.ID, name: dnsrecord.ZoneName(d.Name)}, nil
}

// served is a record that the domain has.
type served struct{ id, ttl int64 }

// content is what a domain has.
type content struct {
	// records are those that a zone may manage.
	records map[record]served
	// system are the system-managed records.
	system map[record]bool
	// isUnreadable means that this API can't list records.
	isUnreadable bool
}

// ttls returns the records that ignore does not match, with their TTLs.
func (c content) ttls(ignored patterns) map[record]int64 {
	all := make(map[record]int64, len(c.records))
	for r, s := range c.records {
		if !ignored.match(r.recordKey) {
			all[r] = s.ttl
		}
	}
	return all
}

// read lists the domain's records.
func (z zone) read(ctx context.Context) (content, error) {
	c := content{records: map[record]served{}, system: map[record]bool{}}
	for r, err := range z.client.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: z.id}) {
		switch {
		case errors.Is(err, client.ErrReadUnsupported):
			return content{isUnreadable: true}, nil
		case err != nil:
			return content{}, err
		case r.IsSystemManaged:
			c.system[recordOf(&r, z.name)] = true
		default:
			c.records[recordOf(&r, z.name)] = served{r.ID, r.TTL}
		}
	}
	return c, nil
}
