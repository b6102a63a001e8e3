package dnsrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// zoneOf returns the domain of a reference by name or UUID. It returns only the name if the
// credential may not view the domain, or if the domain does not exist: the API then refuses the
// create.
func zoneOf(ctx context.Context, c *client.Client, ref string) (session.Domain, error) {
	d, err := c.Domains.Get(ctx, ref)
	name := attribute.DomainName(ref)
	switch {
	case err == nil:
		return session.Domain{ID: d.ID, Name: attribute.DomainName(d.Name)}, nil
	case client.IsNotFound(err), client.StatusOf(err) == http.StatusForbidden && name != "":
		return session.Domain{Name: name}, nil
	}
	return session.Domain{}, err
}

// located is a record with its domain. API responses do not include the domain: it is looked up
// once and stored in the state.
type located struct {
	api.DNSRecord

	zone session.Domain
}

// String returns the record as a line of a zone file.
func (r *located) String() string {
	value := r.Value
	if r.Priority != nil {
		value = fmt.Sprintf("%d %s", *r.Priority, value)
	}
	return fmt.Sprintf("%s %s %.80s", fqdn(r.Name, r.zone.Name), r.Type, value)
}

// listRecords returns the records that match the filters domain, type and name. Without a domain,
// it lists each domain of the account in turn.
func listRecords(ctx context.Context, c *client.Client, by attribute.FilterValues) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		for in, err := range zones(ctx, c, by["domain"]) {
			if err != nil {
				yield(located{}, err)
				return
			}
			req := api.ListDNSRecordsRequest{Domain: cmp.Or(in.ID, in.Name, by["domain"]), Type: by["type"], Name: by["name"]}
			for r, err := range c.ListDNSRecords(ctx, req) {
				if !yield(located{r, in}, err) || err != nil {
					return
				}
			}
		}
	}
}

// zones returns one domain, or all domains of the account if domain is "".
func zones(ctx context.Context, c *client.Client, domain string) iter.Seq2[session.Domain, error] {
	return func(yield func(session.Domain, error) bool) {
		if domain != "" {
			yield(zoneOf(ctx, c, domain))
			return
		}
		for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
			if !yield(session.Domain{ID: d.ID, Name: attribute.DomainName(d.Name)}, err) || err != nil {
				return
			}
		}
	}
}

// searchZone returns the domain of a record. It searches all domains of the account.
func searchZone(ctx context.Context, c *client.Client, record *api.DNSRecord) (session.Domain, error) {
	for other, err := range listRecords(ctx, c, attribute.FilterValues{"type": record.Type, "name": record.Name}) {
		switch {
		case err != nil:
			return session.Domain{}, fmt.Errorf("can't find its domain: %w", err)
		case other.ID == record.ID:
			return other.zone, nil
		}
	}
	return session.Domain{}, errors.New("can't find its domain: none of the domains that the credential may see has the record")
}

// find finds the record of a data source, by its id or by its natural key.
func find(ctx context.Context, c *client.Client, by attribute.FilterValues) (*located, error) {
	if by["id"] != "" {
		id, _ := canonicalID(by["id"])
		record, err := c.DNSRecords.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		in, err := searchZone(ctx, c, record)
		return &located{*record, in}, err
	}
	key := recordKey{domain: by["domain"], recordType: by["type"], name: by["name"], value: by["value"]}
	return key.find(ctx, c, true)
}

// recordKey is the natural key of a record. Without a value, several records may match.
type recordKey struct{ domain, recordType, name, value string }

func (k recordKey) String() string {
	s := fmt.Sprintf("%s record at %s of %s", k.recordType, k.name, service.InDomain{}.DomainLabel(k.domain))
	if k.value != "" {
		s += " with the value " + shortened(k.value)
	}
	return s
}

// find returns the only record with the key. Without systemManaged, it ignores system-managed records.
func (k recordKey) find(ctx context.Context, c *client.Client, systemManaged bool) (*located, error) {
	in, err := zoneOf(ctx, c, k.domain)
	if err != nil {
		return nil, err
	}
	found, err := k.recordsIn(ctx, c, in)
	if err != nil {
		return nil, err
	}
	candidates := slices.DeleteFunc(slices.Clone(found), func(r api.DNSRecord) bool { return r.IsSystemManaged && !systemManaged })
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%w: there is no %s", client.ErrNotFound, k)
	case len(candidates) == 0:
		return nil, errSystemManaged
	case len(candidates) > 1:
		return nil, fmt.Errorf("there is more than one %s: %s; add the value, or refer to it by its id", k, describe(candidates))
	}
	return &located{candidates[0], in}, nil
}

func (k recordKey) recordsIn(ctx context.Context, c *client.Client, in session.Domain) ([]api.DNSRecord, error) {
	return c.FindDNSRecords(ctx, cmp.Or(in.Name, k.domain), k.recordType, k.name, k.value)
}

func describe(records []api.DNSRecord) string {
	names := make([]string, len(records))
	for i, r := range records {
		names[i] = fmt.Sprintf("%d (%.60q)", r.ID, r.Value)
		if r.Priority != nil {
			names[i] = fmt.Sprintf("%d (%.60q, priority %d)", r.ID, r.Value, *r.Priority)
		}
	}
	return strings.Join(names, ", ")
}

// canonicalID returns an id without leading zeros.
func canonicalID(s string) (string, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	return strconv.FormatInt(id, 10), err == nil && id > 0
}

const keyForms = "<domain>/<type>/<name>/<value>, such as example.com/TXT/@/v=spf1 -all; without the last part if there is one such record; or the id"

// ImportState also sets the domain, which Read does not look up. All imports by id in a run share one
// list of every domain's records.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.Resource.ImportState(ctx, req, resp)
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := service.ImportedID(resp)
	record, err := c.DNSRecords.Get(ctx, id)
	var in session.Domain
	switch key, notKey := parseKey(req.ID); {
	case errors.Is(err, client.ErrReadUnsupported):
		return // the Read reports it
	case err != nil:
		err = report.WithAdvice(err, "Import by "+keyForms+".")
	case record.IsSystemManaged:
		err = errSystemManaged
	case notKey == nil:
		in, err = zoneOf(ctx, c, key.domain)
	default:
		byID := func(l *located) string { return strconv.FormatInt(l.ID, 10) }
		if found := service.FindListed(r.Notes(), "", listRecords(ctx, c, nil), byID, id, func(*located) bool { return true }); found != nil {
			in = found.zone
		} else {
			in, err = searchZone(ctx, c, record)
		}
	}
	if err != nil {
		report.Error(&resp.Diagnostics, err, "Can't import the DNS record "+id, nil)
		return
	}
	var m model
	m.setZone(in)
	m.flatten(record)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func parseKey(s string) (recordKey, error) {
	parts := strings.SplitN(s, "/", 4)
	if len(parts) < 3 {
		return recordKey{}, errors.New("expected " + keyForms)
	}
	k := recordKey{domain: parts[0], name: parts[2]}
	if len(parts) > 3 {
		k.value = parts[3]
	}
	var err error
	if k.recordType, err = dnsdata.NormalizeType(parts[1]); err != nil {
		return k, fmt.Errorf("%w; expected %s", err, keyForms)
	}
	return k, nil
}
