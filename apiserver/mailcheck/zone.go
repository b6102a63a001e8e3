package mailcheck

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

// Record is a record of a zone. Its name is relative to Domain or absolute.
type Record struct {
	Name, Type, Value string
	// Domain is the domain that the record belongs to. Default: the checked domain.
	Domain string
	// Priority is the priority of MX and SRV, or nil if Value begins with it.
	Priority *int64
}

// Zone is a [Resolver] for the records of one domain, and of domains above and below it. It responds
// as their name servers do (RFC 1034, section 4.3.2; RFC 4592).
type Zone struct {
	domain string
	// origin is the highest domain with records that contains the domain, or the domain itself. All
	// names are relative to it.
	origin string
	// domains are the names of domains with records. No delegation hides them.
	domains map[string]bool
	// nodes maps the relative names that exist to their values by type. An empty node exists only
	// because a name below it does.
	nodes map[string]map[string][]string
}

// apex is the relative name of the origin.
const apex = "@"

// mailTypes are the types that mail needs. Of other records only the names count.
var mailTypes = []string{dnsdata.TypeMX, dnsdata.TypeTXT, dnsdata.TypeA, dnsdata.TypeAAAA, dnsdata.TypeCNAME, dnsdata.TypeNS}

// NewZone returns the zone of a domain in ASCII. It ignores records of other domains, except those
// above and below it.
func NewZone(domain string, records []Record) (*Zone, error) {
	z := &Zone{domain, domain, map[string]bool{apex: true}, map[string]map[string][]string{apex: {}}}
	domains := make([]string, len(records))
	for i, r := range records {
		domains[i] = domain
		if r.Domain != "" {
			var err error
			if domains[i], err = domainname.Normalize(r.Domain); err != nil {
				return nil, fmt.Errorf("%.100q: %w", r.Domain, err)
			}
		}
		if strings.HasSuffix(z.origin, "."+domains[i]) {
			z.origin = domains[i]
		}
	}
	for i, r := range records {
		within, ok := z.relative(domains[i])
		if !ok {
			continue
		}
		z.domains[within] = true
		recordType, _ := dnsdata.NormalizeType(r.Type)
		needed := slices.Contains(mailTypes, recordType)
		full, err := absolute(r.Name, domains[i])
		name, ok := z.relative(full)
		switch {
		case err != nil && needed:
			return nil, fmt.Errorf("%.100q: %w", r.Name, err)
		case !ok:
			continue
		}
		for n := name; n != apex; n = parent(n) {
			if z.nodes[n] == nil {
				z.nodes[n] = map[string][]string{}
			}
		}
		if !needed {
			continue
		}
		value, err := r.canonicalValue(recordType)
		if err != nil {
			return nil, fmt.Errorf("%.100q: %w", r.Name, err)
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

// absolute returns the full name of a record in a domain.
func absolute(name, domain string) (string, error) {
	name, err := dnsdata.NormalizeName(name, "")
	full, ended := strings.CutSuffix(name, ".")
	switch {
	case err != nil:
		return "", err
	case name == apex:
		return domain, nil
	case ended, name == domain, strings.HasSuffix(name, "."+domain):
		return full, nil
	}
	return name + "." + domain, nil
}

// relative returns a full name relative to the origin, and whether it is below it.
func (z *Zone) relative(name string) (string, bool) {
	if name == z.origin {
		return apex, true
	}
	return strings.CutSuffix(name, "."+z.origin)
}

// canonicalValue returns the value of a record in the form of [Resolver].
func (r Record) canonicalValue(recordType string) (string, error) {
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
	return value, err
}

// validSelector matches the selectors of DKIM (RFC 6376, section 3.1) and excludes wildcards and other
// records of _domainkey, such as _adsp (RFC 5617) and _report (RFC 6651).
var validSelector = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*$`)

// Selectors returns the selectors of the DKIM keys, sorted.
func (z *Zone) Selectors() (selectors []string) {
	for name, node := range z.nodes {
		s, ok := strings.CutSuffix(name+"."+z.origin, "._domainkey."+z.domain)
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
	relative, ok := z.relative(strings.ToLower(strings.TrimSuffix(name, ".")))
	if !ok {
		return nil, ErrUnknown
	}
	node, exists := z.nodes[relative]
	encloser := relative
	for ; z.nodes[encloser] == nil; encloser = parent(encloser) {
	}
	if !exists {
		node = z.nodes[strings.TrimSuffix("*."+encloser, "."+apex)]
	}
	delegated := node[dnsdata.TypeNS] != nil && !z.domains[relative]
	for n := encloser; !z.domains[n]; n = parent(n) {
		delegated = delegated || z.nodes[n][dnsdata.TypeNS] != nil
	}
	if delegated {
		return nil, ErrUnknown
	}
	return node, nil
}
