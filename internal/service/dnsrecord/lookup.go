package dnsrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// zone is the domain of a record. The API's answers do not name it, so it is
// looked up once and then kept in the state.
type zone struct {
	// id is empty where the credential may not see the domain.
	id   string
	name string
}

// zoneOf returns the domain that is referred to by name or UUID. Of one that the
// credential may not see, its name alone will do. One that does not exist is left
// to the API, which refuses it at the right place.
func zoneOf(ctx context.Context, c *client.Client, ref string) (zone, error) {
	d, err := c.GetDomain(ctx, ref)
	name := zoneNamed(ref)
	switch {
	case err == nil:
		return zone{id: d.ID, name: zoneNamed(d.Name)}, nil
	case client.IsNotFound(err), client.StatusOf(err) == http.StatusForbidden && name != "":
		return zone{name: name}, nil
	}
	return zone{}, err
}

// zoneNamed returns the canonical name of a domain that is referred to by its
// name, and "" for a reference that is a UUID, or invalid.
func zoneNamed(ref string) string {
	if uuid.Validate(ref) == nil {
		return ""
	}
	name, err := customtype.Normalize[customtype.DomainName](ref)
	if err != nil {
		return ""
	}
	return name
}

// located is a record with its domain, which the API's answers do not tell.
type located struct {
	api.DNSRecord

	in zone
}

// locate lists the records that the filters domain, type and name let through:
// those of one domain, or else of each domain of the account after the other.
func locate(ctx context.Context, c *client.Client, by service.Given) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		for in, err := range zones(ctx, c, by["domain"]) {
			if err != nil {
				yield(located{}, err)
				return
			}
			req := api.ListDNSRecordsRequest{Domain: cmp.Or(in.id, in.name, by["domain"]), Type: by["type"], Name: by["name"]}
			for r, err := range c.ListDNSRecords(ctx, req) {
				if !yield(located{r, in}, err) || err != nil {
					return
				}
			}
		}
	}
}

// zones returns one domain, or all of the account where none is named.
func zones(ctx context.Context, c *client.Client, domain string) iter.Seq2[zone, error] {
	return func(yield func(zone, error) bool) {
		if domain != "" {
			yield(zoneOf(ctx, c, domain))
			return
		}
		for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
			if !yield(zone{id: d.ID, name: zoneNamed(d.Name)}, err) || err != nil {
				return
			}
		}
	}
}

// searchZone goes through the account's domains for the one that has a record.
func searchZone(ctx context.Context, c *client.Client, record *api.DNSRecord) (zone, error) {
	d, err := c.DomainOfDNSRecord(ctx, record.ID)
	switch {
	case err == nil:
		return zone{id: d.ID, name: zoneNamed(d.Name)}, nil
	case !client.IsNotFound(err):
		return zone{}, fmt.Errorf("its domain can't be told: %w", err)
	}
	// It may be newer than what was met then.
	for other, err := range locate(ctx, c, service.Given{"type": record.Type, "name": record.Name}) {
		switch {
		case err != nil:
			return zone{}, fmt.Errorf("its domain can't be told: %w", err)
		case other.ID == record.ID:
			return other.in, nil
		}
	}
	return zone{}, errors.New("none of the domains that the credential may see has the record, so that its domain can't be told")
}

// readByID reads a record by its id as it is written.
func readByID(ctx context.Context, c *client.Client, id string) (*api.DNSRecord, error) {
	number, err := parseID(id)
	if err != nil {
		return nil, err
	}
	return c.GetDNSRecord(ctx, number)
}

// recordKey is the natural key of records; without a value, of several.
type recordKey struct{ domain, recordType, name, value string }

func (k recordKey) String() string {
	s := fmt.Sprintf("%s record at %s of %s", k.recordType, k.name, k.domain)
	if k.value != "" {
		s += " with the value " + shown(k.value)
	}
	return s
}

// records returns the records with the key, in their domain.
func (k recordKey) records(ctx context.Context, c *client.Client) (found []api.DNSRecord, in zone, err error) {
	if in, err = zoneOf(ctx, c, k.domain); err != nil {
		return nil, zone{}, err
	}
	found, err = k.recordsIn(ctx, c, in)
	return found, in, err
}

// recordsIn is records for a domain that has been looked up.
func (k recordKey) recordsIn(ctx context.Context, c *client.Client, in zone) ([]api.DNSRecord, error) {
	return c.FindDNSRecords(ctx, cmp.Or(in.name, k.domain), k.recordType, k.name, k.value)
}

// one returns the only record that was found with the key.
func (k recordKey) one(found []api.DNSRecord) (*api.DNSRecord, error) {
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: there is no %s", client.ErrNotFound, k)
	case 1:
		return &found[0], nil
	}
	return nil, fmt.Errorf("there is more than one %s: %s; add the value, or name it by its id", k, listed(found))
}

// listed names records by id, value and priority.
func listed(records []api.DNSRecord) string {
	names := make([]string, len(records))
	for i, r := range records {
		names[i] = fmt.Sprintf("%d (%.60q)", r.ID, r.Value)
		if r.Priority != nil {
			names[i] = fmt.Sprintf("%d (%.60q, priority %d)", r.ID, r.Value, *r.Priority)
		}
	}
	return strings.Join(names, ", ")
}

// parseID reads an id as the API has it.
func parseID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("the id of a DNS record is a number, not %.40q", s)
	}
	return id, nil
}

// canonicalID returns an id without leading zeros.
func canonicalID(s string) (string, bool) {
	id, err := parseID(s)
	return strconv.FormatInt(id, 10), err == nil
}
