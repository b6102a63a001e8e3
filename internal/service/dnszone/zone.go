package dnszone

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

// zone is a domain with the client that reads its records.
type zone struct {
	client *client.Client
	id     string
	name   string
}

func lookUp(ctx context.Context, c *client.Client, ref string) (zone, error) {
	d, err := c.Domains.Get(ctx, ref)
	if err != nil {
		return zone{}, err
	}
	return zone{client: c, id: d.ID, name: attribute.DomainName(d.Name)}, nil
}

// served holds the id and the TTL of one of the domain's records.
type served struct {
	id  string
	ttl int64
}

type content struct {
	// records are the records that a zone may manage.
	records map[record]served
	system  map[record]bool
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

// read returns the records of the domain, or errUnreadable if the API can't list records.
func (z zone) read(ctx context.Context) (content, error) {
	c := content{records: map[record]served{}, system: map[record]bool{}}
	for r, err := range z.client.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: z.id}) {
		switch {
		case errors.Is(err, client.ErrReadUnsupported):
			return content{}, errUnreadable
		case err != nil:
			return content{}, err
		case r.IsSystemManaged:
			c.system[recordOf(&r, z.name)] = true
		default:
			c.records[recordOf(&r, z.name)] = served{strconv.FormatInt(r.ID, 10), r.TTL}
		}
	}
	return c, nil
}

// readOnce returns the records of the domain as the first read in the walk found them.
func (z zone) readOnce(ctx context.Context, notes *sync.Map) (content, error) {
	if z.client == nil {
		return content{}, errNoAccount
	}
	return z.note(notes, func() (content, error) { return z.read(ctx) })
}

// note stores the result of the first read in the walk, and returns it.
func (z zone) note(notes *sync.Map, read func() (content, error)) (content, error) {
	type recordsOf struct{ id string }
	return service.OnceResult(notes, recordsOf{z.id}, read)
}

var errNoAccount = errors.New("the account can't be opened")

// originKey is the key of [origin] in the private state.
const originKey = "origin"

// origin stores in the private state which records of the state were not written by an apply of the
// zone. An update clears it.
type origin struct {
	// Foreign lists the records that others added, as lines of a zone file.
	Foreign []string `json:"foreign,omitempty"`
	// Ignored lists the records that match ignore, so that a plan which changes ignore names the same
	// records as its apply.
	Ignored []string `json:"ignored,omitempty"`
	// IsImported means that no apply wrote the records, but they belong to the zone.
	IsImported bool `json:"imported,omitempty"`
}

func originOf(ctx context.Context, private service.PrivateState) origin {
	return service.GetPrivate[origin](ctx, private, originKey)
}

// isForeign returns a function that reports whether others added a record.
func (o origin) isForeign() func(record) bool {
	all := make(map[string]bool, len(o.Foreign))
	for _, s := range o.Foreign {
		all[s] = true
	}
	return func(r record) bool { return all[r.String()] }
}

// ignored returns the records that ignore matched at the last refresh.
func (o origin) ignored(domain string) map[record]int64 {
	all := map[record]int64{}
	for _, line := range o.Ignored {
		fields := strings.SplitN(line, " ", 3)
		key, err := parseKey(strings.Join(fields[:2], " "), domain)
		if err != nil {
			continue
		}
		if r, err := parseValue(key, fields[2]); err == nil {
			all[r] = 0
		}
	}
	return all
}
