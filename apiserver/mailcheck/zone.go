package mailcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// Record is a record of a zone. Its name is relative to the domain or absolute.
type Record struct {
	Name, Type, Value string
	// Priority is the priority of MX and SRV, or nil if Value begins with it.
	Priority *int64
}

// Zone is a [Resolver] for the records of one domain only.
type Zone struct {
	domain  string
	records map[zoneKey][]string
}

type zoneKey struct{ name, recordType string }

// NewZone returns the zone of a domain in ASCII.
func NewZone(domain string, records []Record) (*Zone, error) {
	z := &Zone{domain, map[zoneKey][]string{}}
	for _, r := range records {
		key, value, err := r.canonical(domain)
		if err != nil {
			return nil, fmt.Errorf("%.100q: %w", r.Name, err)
		}
		if !slices.Contains(z.records[key], value) {
			z.records[key] = append(z.records[key], value)
		}
	}
	return z, nil
}

// canonical returns the key and the value of a record, in the form of [Resolver].
func (r Record) canonical(domain string) (key zoneKey, value string, err error) {
	if key.name, err = dnsdata.NormalizeName(r.Name, domain); err != nil {
		return key, "", err
	}
	if key.recordType, err = dnsdata.NormalizeType(r.Type); err != nil {
		return key, "", err
	}
	rdata := r.Value
	if r.Priority != nil && dnsdata.TypeNeedsPriority(key.recordType) {
		rdata = fmt.Sprintf("%d %s", *r.Priority, rdata)
	}
	priority, value, err := dnsdata.ParseRDATA(key.recordType, rdata)
	switch {
	case err != nil:
	case key.recordType == dnsdata.TypeTXT:
		value, err = dnsdata.Text(value)
	case priority >= 0:
		value = fmt.Sprintf("%d %s", priority, value)
	}
	return key, value, err
}

// Selectors returns the selectors of the DKIM keys, sorted.
func (z *Zone) Selectors() (selectors []string) {
	for key := range z.records {
		if selector, ok := strings.CutSuffix(key.name, "._domainkey"); ok && !slices.Contains(selectors, selector) {
			selectors = append(selectors, selector)
		}
	}
	slices.Sort(selectors)
	return selectors
}

// maxAliases limits the aliases that a lookup follows.
const maxAliases = 8

// Lookup implements [Resolver].
func (z *Zone) Lookup(_ context.Context, name, recordType string) ([]string, error) {
	for range maxAliases {
		relative, ok := z.relative(name)
		if !ok {
			return nil, ErrUnknown
		}
		aliases := z.records[zoneKey{relative, dnsdata.TypeCNAME}]
		if recordType == dnsdata.TypeCNAME || len(aliases) == 0 {
			return z.records[zoneKey{relative, recordType}], nil
		}
		name = aliases[0]
	}
	return nil, nil
}

// relative returns a name relative to the domain, and false for a name outside of the zone.
func (z *Zone) relative(name string) (string, bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == z.domain {
		return "@", true
	}
	relative, ok := strings.CutSuffix(name, "."+z.domain)
	for below := relative; ok && below != ""; {
		if len(z.records[zoneKey{below, dnsdata.TypeNS}]) > 0 {
			return "", false // delegated
		}
		_, below, _ = strings.Cut(below, ".")
	}
	return relative, ok
}
