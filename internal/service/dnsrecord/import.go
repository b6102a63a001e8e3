package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

const keyForms = "<domain>/<type>/<name>/<value>, such as example.com/TXT/@/v=spf1 -all; without the last part where there is one such record; or the id"

var errCantRead = errors.New("this API has no operation that reads a DNS record, so that none can be imported; create records with Terraform from the start, or leave them out of it")

// ImportState implements resource.ResourceWithImportState: by id, by domain,
// type, name and value, or by identity. It tells the domain, which a Read can't.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var in zone
	r.ImportBy(ctx, req, resp, canonicalID, func(ctx context.Context, c *client.Client, key string) (id string, err error) {
		id, in, err = findByKey(ctx, c, key)
		return id, err
	})
	var id types.String
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.GetAttribute(ctx, path.Root("id"), &id)...)
	}
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	m, err := imported(ctx, c, id.ValueString(), in)
	if err != nil {
		service.AddErrorAdvising(&resp.Diagnostics, err, "Can't import the DNS record "+id.ValueString(), nil, importAdvice(err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func importAdvice(err error) string {
	switch {
	case errors.Is(err, errCantRead):
		return ""
	case errors.Is(err, errSystemManaged):
		return systemManagedAdvice
	}
	return "Import by " + keyForms + "."
}

// imported returns the record with an id; its domain is searched for where it is
// not known.
func imported(ctx context.Context, c *client.Client, id string, in zone) (*model, error) {
	number, err := parseID(id)
	if err != nil {
		return nil, err
	}
	record, err := c.GetDNSRecord(ctx, number)
	if errors.Is(err, client.ErrReadUnsupported) {
		return nil, errCantRead
	}
	if err != nil {
		return nil, err
	}
	if record.IsSystemManaged {
		return nil, errSystemManaged
	}
	if in.name == "" {
		if in, err = searchZone(ctx, c, record); err != nil {
			return nil, err
		}
	}
	m := new(model)
	m.in(in)
	m.fill(record)
	return m, nil
}

// searchZone goes through the account's domains for the one that has a record.
func searchZone(ctx context.Context, c *client.Client, record *api.DNSRecord) (zone, error) {
	for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			return zone{}, fmt.Errorf("its domain can't be told: %w", err)
		}
		for other, err := range c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: d.ID, Type: record.Type, Name: record.Name}) {
			if err != nil {
				return zone{}, fmt.Errorf("whether its domain is %s can't be told: %w", d.Name, err)
			}
			if other.ID == record.ID {
				return zone{id: d.ID, name: zoneNamed(d.Name)}, nil
			}
		}
	}
	return zone{}, errors.New("none of the domains that the credential may see has the record, so that its domain can't be told")
}

// recordKey is the natural key of records; without a value, of several.
type recordKey struct{ domain, recordType, name, value string }

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

func (k recordKey) String() string {
	s := fmt.Sprintf("%s record at %s of %s", k.recordType, k.name, k.domain)
	if k.value != "" {
		s += fmt.Sprintf(" with the value %.100q", k.value)
	}
	return s
}

// findByKey returns the id of the one record that has a natural key and can be
// imported.
func findByKey(ctx context.Context, c *client.Client, s string) (id string, in zone, err error) {
	key, err := parseKey(s)
	if err != nil {
		return "", zone{}, err
	}
	if in, err = zoneOf(ctx, c, key.domain); err != nil {
		return "", zone{}, err
	}
	found, err := recordsLike(ctx, c, in, key)
	if errors.Is(err, client.ErrReadUnsupported) {
		return "", zone{}, errCantRead
	}
	if err != nil {
		return "", zone{}, err
	}
	record, err := key.only(found)
	if err != nil {
		return "", zone{}, err
	}
	return strconv.FormatInt(record.ID, 10), in, nil
}

// recordsLike lists the records that a natural key names.
func recordsLike(ctx context.Context, c *client.Client, in zone, key recordKey) ([]api.DNSRecord, error) {
	var found []api.DNSRecord
	for r, err := range c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: key.domain, Type: key.recordType, Name: key.name}) {
		if err != nil {
			return nil, err
		}
		if r.Type == key.recordType && dnsdata.EqualNames(r.Name, key.name, in.name) &&
			(key.value == "" || dnsdata.EqualValues(r.Type, r.Value, key.value)) {
			found = append(found, r)
		}
	}
	return found, nil
}

// only returns the record among those with the key that can be imported.
func (k recordKey) only(found []api.DNSRecord) (api.DNSRecord, error) {
	var own []api.DNSRecord
	for _, r := range found {
		if !r.IsSystemManaged {
			own = append(own, r)
		}
	}
	switch {
	case len(own) == 1:
		return own[0], nil
	case len(own) > 1:
		return api.DNSRecord{}, fmt.Errorf("there is more than one %s: %s; add the value, or import by the id", k, listed(own))
	case len(found) > 0:
		return api.DNSRecord{}, fmt.Errorf("%w. %s", errSystemManaged, systemManagedAdvice)
	}
	return api.DNSRecord{}, fmt.Errorf("there is no %s", k)
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
