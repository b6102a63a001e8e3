// Package zonefile reads zone files (RFC 1035, section 5) as the records of a DNS zone.
package zonefile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/textfile"
)

// Set contains the records of one name and type.
type Set struct {
	// TTL is in seconds.
	TTL int64 `tfsdk:"ttl"`
	// Values are as in the file: those of MX and SRV with the priority, those of TXT as plain text.
	Values []string `tfsdk:"values"`
}

// ErrDomain is wrapped by the error for an invalid domain.
var ErrDomain = errors.New("domain")

// maxProblems limits the problems in an error.
const maxProblems = 20

// Parse returns the records of a domain's zone file by name and type, such as "www A" or "@ MX". It
// omits the records that the zone's host creates: SOA and NS of the domain itself, and DNSSEC. It moves
// a TTL outside the API's limits to the nearest limit, and uses the lowest TTL in a set.
//
// A syntax error ends the parsing. Otherwise the error lists all records that a zone can't contain: records
// of another type or class, and records outside the domain. A file without records is an error too.
func Parse(text, domain string) (map[string]Set, error) {
	origin, err := domainname.Normalize(domain)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDomain, err)
	}
	text, problems := withoutAliases(textfile.Normalize(text))
	parser := dns.NewZoneParser(strings.NewReader(text), origin+".", "")
	parser.SetDefaultTTL(uint32(api.DefaultDNSTTL))
	sets := map[string]Set{}
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if isHosts(rr, origin) {
			continue
		}
		key, value, err := recordOf(rr, origin)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s", short(rr), err))
			continue
		}
		limits := api.FieldOf[api.CreateDNSRecordBody]("ttl")
		ttl := min(max(int64(rr.Header().Ttl), *limits.Minimum), *limits.Maximum)
		set, known := sets[key]
		if known {
			ttl = min(ttl, set.TTL)
		}
		if !slices.Contains(set.Values, value) {
			set.Values = append(set.Values, value)
		}
		sets[key] = Set{ttl, set.Values}
	}
	if err := parser.Err(); err != nil {
		return nil, fmt.Errorf("the file is no zone file: %w", err)
	}
	if len(problems) > 0 {
		if more := len(problems) - maxProblems; more > 0 {
			problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
		}
		return nil, fmt.Errorf("these records can't be carried over; remove them from the file:\n%s", strings.Join(problems, "\n"))
	}
	if len(sets) == 0 {
		return nil, errors.New("the file has no record for the zone, which would lose all that it has; check the file, or write records = {} to delete them on purpose")
	}
	return sets, nil
}

// alias matches a line of type ALIAS or ANAME: an optional name, TTL and class, and the type.
var alias = regexp.MustCompile(`(?i)^([^\s;$][^\s;]*)?\s+(\d\w*\s+|(IN|AWS)\s+)*(ALIAS|ANAME)\s`)

// withoutAliases removes the lines of ALIAS and ANAME records, which are specific to a host and unknown
// to the parser, and returns a problem for each. The line numbers stay the same.
func withoutAliases(text string) (rest string, problems []string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if m := alias.FindStringSubmatch(line); m != nil {
			problems = append(problems, fmt.Sprintf("line %d, %s: an alias of its host; write a CNAME, or the addresses", i+1, cmp.Or(m[1], "the name above")))
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n"), problems
}

// isHosts reports whether the host of a zone creates the record itself.
func isHosts(rr dns.RR, origin string) bool {
	switch rr.Header().Rrtype {
	case dns.TypeSOA, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY, dns.TypeZONEMD:
		return true
	case dns.TypeNS:
		return strings.EqualFold(rr.Header().Name, origin+".")
	}
	return false
}

func recordOf(rr dns.RR, origin string) (key, value string, err error) {
	h := rr.Header()
	if h.Class != dns.ClassINET {
		return "", "", fmt.Errorf("its class is %s, not IN", dns.Class(h.Class))
	}
	recordType, err := dnsdata.NormalizeType(dns.Type(h.Rrtype).String())
	if err != nil {
		return "", "", err
	}
	name, err := dnsdata.NormalizeName(h.Name, origin)
	if err != nil {
		return "", "", err
	}
	priority, value, err := dnsdata.ParseRDATA(recordType, rdata(rr))
	if priority >= 0 {
		value = fmt.Sprintf("%d %s", priority, value)
	}
	return name + " " + recordType, value, err
}

// rdata returns the data of a record in presentation format.
func rdata(rr dns.RR) string { return strings.TrimPrefix(rr.String(), rr.Header().String()) }

// short describes a record for a message, without most of a key or policy.
func short(rr dns.RR) string {
	const most = 40
	data := []rune(rdata(rr))
	if len(data) > most {
		data = append(data[:most], '…')
	}
	return fmt.Sprintf("%s %s %s", rr.Header().Name, dns.Type(rr.Header().Rrtype), string(data))
}
