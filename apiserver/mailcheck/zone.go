package mailcheck

import (
	"context"
	"fmt"
	"regexp"
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

// Zone is a [Resolver] for the records of one domain only. It answers as name servers of the domain
// do (RFC 1034, section 4.3.2; RFC 4592).
type Zone struct {
	domain string
	// nodes maps the relative names that exist to their values by type. An empty node exists only
	// because a name below it does.
	nodes map[string]map[string][]string
}

// apex is the relative name of the domain itself.
const apex = "@"

// NewZone returns the zone of a domain in ASCII.
func NewZone(domain string, records []Record) (*Zone, error) {
	z := &Zone{domain, map[string]map[string][]string{apex: {}}}
	for _, r := range records {
		name, recordType, value, err := r.canonical(domain)
		if err != nil {
			return nil, fmt.Errorf("%.100q: %w", r.Name, err)
		}
		for n := name; n != apex; n = parent(n) {
			if z.nodes[n] == nil {
				z.nodes[n] = map[string][]string{}
			}
		}
		if node := z.nodes[name]; !slices.Contains(node[recordType], value) {
			node[recordType] = append(node[recordType], value)
		}
	}
	return z, nil
}

// parent returns the relative name above another one.
func parent(name string) string {
	if _, above, ok := strings.Cut(name, "."); ok {
		return above
	}
	return apex
}

// canonical returns the parts of a record in the form of [Resolver], and its relative name.
func (r Record) canonical(domain string) (name, recordType, value string, err error) {
	if name, err = dnsdata.NormalizeName(r.Name, domain); err != nil {
		return "", "", "", err
	}
	if recordType, err = dnsdata.NormalizeType(r.Type); err != nil {
		return "", "", "", err
	}
	rdata := r.Value
	if r.Priority != nil && dnsdata.TypeNeedsPriority(recordType) {
		rdata = fmt.Sprintf("%d %s", *r.Priority, rdata)
	}
	priority, value, err := dnsdata.ParseRDATA(recordType, rdata)
	switch {
	case err != nil:
	case recordType == dnsdata.TypeTXT:
		value, err = dnsdata.Text(value)
	case priority >= 0:
		value = fmt.Sprintf("%d %s", priority, value)
	}
	return name, recordType, value, err
}

// validSelector matches the selectors of DKIM (RFC 6376, section 3.1) and excludes wildcards and other
// records of _domainkey, such as _adsp (RFC 5617) and _report (RFC 6651).
var validSelector = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*$`)

// Selectors returns the selectors of the DKIM keys, sorted.
func (z *Zone) Selectors() (selectors []string) {
	for name, node := range z.nodes {
		s, ok := strings.CutSuffix(name, "._domainkey")
		if isKey := len(node[dnsdata.TypeTXT])+len(node[dnsdata.TypeCNAME])+len(node[dnsdata.TypeNS]) > 0; ok && isKey && validSelector.MatchString(s) {
			selectors = append(selectors, s)
		}
	}
	slices.Sort(selectors)
	return selectors
}

// MaxAliases limits the aliases that a lookup follows. BIND and Unbound have the same limit.
const MaxAliases = 11

// Lookup implements [Resolver].
func (z *Zone) Lookup(_ context.Context, name, recordType string) ([]string, error) {
	for range MaxAliases {
		node, err := z.node(name)
		if err != nil {
			return nil, err
		}
		aliases := node[dnsdata.TypeCNAME]
		if recordType == dnsdata.TypeCNAME || len(aliases) == 0 {
			return node[recordType], nil
		}
		name = aliases[0]
	}
	return nil, nil
}

// Exists implements [Existence].
func (z *Zone) Exists(_ context.Context, name string) bool {
	node, err := z.node(name)
	return node != nil || err != nil
}

// node returns the values of a name by type, from a wildcard if only that exists, or nil. Names that
// are outside of the zone or delegated are unknown.
func (z *Zone) node(name string) (map[string][]string, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	relative, ok := strings.CutSuffix(name, "."+z.domain)
	switch {
	case name == z.domain:
		relative = apex
	case !ok:
		return nil, ErrUnknown
	}
	node, exists := z.nodes[relative]
	encloser := relative
	for ; z.nodes[encloser] == nil; encloser = parent(encloser) {
	}
	if !exists {
		node = z.nodes[strings.TrimSuffix("*."+encloser, "."+apex)]
	}
	delegated := node[dnsdata.TypeNS] != nil && relative != apex
	for n := encloser; n != apex; n = parent(n) {
		delegated = delegated || z.nodes[n][dnsdata.TypeNS] != nil
	}
	if delegated {
		return nil, ErrUnknown
	}
	return node, nil
}
