// Package zonefile reads zone files (RFC 1035, section 5) as the records of a DNS zone.
package zonefile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
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
// The error lists every line that can't be carried over, such as a record of another type or class, a
// record outside the domain, an invalid value, and a record that its comment disables. A file without
// records is an error too.
func Parse(file, domain string) (map[string]Set, error) {
	origin, err := domainname.Normalize(domain)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDomain, err)
	}
	file = textfile.Normalize(file)
	if start := strings.TrimSpace(file); strings.IndexAny(start, "<{[") == 0 {
		return nil, errNoZoneFile(fmt.Sprintf("it begins with %q", start[:1]))
	}
	r := reader{domain: origin, origin: origin + ".", ttl: api.DefaultDNSTTL, sets: map[string]Set{}, known: map[[2]string]bool{}}
	var problems []string
	for _, e := range split(file) {
		if err := r.read(e); err != nil {
			problems = append(problems, fmt.Sprintf("line %d: %s", e.line, text.PrintableLines(err.Error())))
		}
	}
	switch {
	case len(problems) > 0 && !r.isZone:
		return nil, fmt.Errorf("%w\n%s", errNoZoneFile("no line is a record, such as www 3600 IN A 192.0.2.1"), problems[0])
	case len(problems) > 0:
		if more := len(problems) - maxProblems; more > 0 {
			problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
		}
		return nil, fmt.Errorf("these records can't be carried over; correct them, or remove them from the file:\n%s", strings.Join(problems, "\n"))
	case len(r.sets) == 0:
		return nil, errors.New("the file contains no record for the zone, which would lose all its records; check the file, or write records = {} to delete them on purpose")
	}
	return r.sets, nil
}

func errNoZoneFile(why string) error {
	return fmt.Errorf("the file is no zone file, because %s; export the zone as a zone file, which many hosts call the BIND format", why)
}

// reader reads the entries of a zone file in order.
type reader struct {
	domain string
	// origin completes relative names. It ends in a dot.
	origin string
	// owner is the name of the last record, for a record without a name.
	owner string
	// ttl is the TTL of a record without one: that of $TTL or, before the first $TTL, of the last record.
	ttl       int64
	isTTLSet  bool
	generated int
	// isZone reports whether an entry is a directive, or a record with a class or with a type that exists.
	isZone bool
	sets   map[string]Set
	// known contains the keys and values in sets.
	known map[[2]string]bool
}

func (r *reader) read(e entry) error {
	switch {
	case len(e.fields) == 0:
		return e.err
	case !strings.HasPrefix(e.fields[0].text, "$"):
		return r.readRecord(e)
	case e.err != nil:
		return fmt.Errorf("%s: %w", shortened(textOf(e.fields)), e.err)
	}
	return r.readDirective(e)
}

func (r *reader) readDirective(e entry) error {
	r.isZone = true
	argument := ""
	if len(e.fields) > 1 {
		argument = e.fields[1].text
	}
	switch name := strings.ToUpper(e.fields[0].text); {
	case name == "$GENERATE":
		return r.generate(e)
	case name == "$INCLUDE":
		return fmt.Errorf("$INCLUDE of another file, %.100q; put its content here", argument)
	case name == "$TTL" && ttlForm.MatchString(argument):
		r.ttl, r.isTTLSet = parseTTL(argument), true
	case name == "$TTL":
		return fmt.Errorf("$TTL needs a time such as 3600 or 1h, not %.40q", argument)
	case name == "$ORIGIN" && argument != "":
		err := r.checkName(argument)
		if r.origin = r.absolute(argument); r.lacksDot(argument) {
			r.origin = argument + "." // as meant, so that the records after it have no problem
		}
		return err
	case name == "$ORIGIN":
		return errors.New("$ORIGIN needs a name")
	default:
		return fmt.Errorf("unknown directive %.40s", e.fields[0].text)
	}
	return nil
}

// absolute completes a name. A relative name may end in @, as GoDaddy writes _sip._tcp.@.
func (r *reader) absolute(name string) string {
	if name == "@" || name == "" {
		return r.origin
	}
	name = unescapeName(strings.TrimSuffix(name, ".@"))
	switch {
	case strings.HasSuffix(name, ".") && !strings.HasSuffix(name, `\.`):
		return name
	case r.origin == ".":
		return name + "."
	}
	return name + "." + r.origin
}

// lacksDot reports whether a relative name contains the domain, and so probably was meant to be absolute.
func (r *reader) lacksDot(name string) bool {
	if strings.HasSuffix(name, ".") {
		return false
	}
	_, err := dnsdata.NormalizeName(unescapeName(name)+".", r.domain)
	return err == nil
}

// checkName returns an error for a name that means another one in a zone file than its author probably
// intended.
func (r *reader) checkName(name string) error {
	for _, escaped := range escape.FindAllString(name, -1) {
		if c := unescape(escaped); len(escaped) == len(`\DDD`) && letterOrDigit.MatchString(c) {
			return fmt.Errorf("the name %.80s contains %s, which is %s, because a zone file escapes in decimal; Route 53 escapes in octal%s. Write the character itself", name, escaped, c, octal(escaped))
		}
	}
	if r.lacksDot(name) && r.origin != "." {
		return fmt.Errorf("the name %.80s lacks the dot at its end, and so means %.160s; write %.80s", name, r.absolute(name), name+".")
	}
	return nil
}

// octal describes an escape that Route 53 writes.
func octal(escaped string) string {
	if n, err := strconv.ParseUint(escaped[1:], 8, 7); err == nil && n > ' ' {
		return fmt.Sprintf(", where it is %c", rune(n))
	}
	return ""
}

var letterOrDigit = regexp.MustCompile(`^[0-9A-Za-z]$`)

// ttlField is the contract's description of a TTL.
var ttlField = api.FieldOf[api.CreateDNSRecordBody]("ttl")

var (
	ttlForm   = regexp.MustCompile(`(?i)^(?:[0-9]{1,10}[smhdw]?)+$`)
	ttlPart   = regexp.MustCompile(`([0-9]+)([a-z]?)`)
	unitOfTTL = map[string]int64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
	class     = regexp.MustCompile(`(?i)^(?:IN|CH|CHAOS|HS|HESIOD|CS|ANY|NONE|AWS|CLASS[0-9]{1,5})$`)
	// aging matches the age of a record in the exports of Windows.
	aging = regexp.MustCompile(`(?i)^\[(?:AGE|AGING):[0-9]+\]$`)
)

func parseTTL(s string) (ttl int64) {
	for _, m := range ttlPart.FindAllStringSubmatch(strings.ToLower(s), -1) {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		ttl += n * unitOfTTL[m[2]]
	}
	return ttl
}

// record is a record of a zone file.
type record struct {
	entry
	// name is the name as in the file, or "".
	name              string
	ttl               int64
	class, recordType string
	data              []field
}

// readRecord reads a record into the sets.
func (r *reader) readRecord(e entry) error {
	rec, err := r.parseRecord(e)
	if err != nil {
		return err
	}
	r.isZone = r.isZone || (rec.class != "" || rec.hasType()) && !strings.ContainsAny(rec.name, ",:=")
	if err = e.err; err == nil {
		err = r.add(rec)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", shortened(strings.TrimRight(r.owner+" "+rec.recordType+" "+textOf(rec.data), " ")), err)
	}
	return nil
}

// parseRecord parses an entry up to the type, and sets the owner and the TTL of the records after it.
func (r *reader) parseRecord(e entry) (record, error) {
	rec, fields := record{entry: e, ttl: r.ttl}, e.fields
	switch {
	case !e.omitsName:
		rec.name, fields = fields[0].text, fields[1:]
		r.owner = r.absolute(rec.name)
	case r.owner == "":
		r.owner = r.origin // RFC 1035 leaves it open; dnspython and ldns read it so
	}
	hasTTL := false
	for ; len(fields) > 0; fields = fields[1:] {
		switch f := fields[0].text; {
		case !hasTTL && ttlForm.MatchString(f):
			if rec.ttl, hasTTL = parseTTL(f), true; !r.isTTLSet {
				r.ttl = rec.ttl
			}
		case rec.class == "" && class.MatchString(f):
			rec.class = strings.ToUpper(f)
		case aging.MatchString(f):
		default:
			rec.recordType, rec.data = typeOf(f), fields[1:]
			if rec.recordType == "SOA" && !hasTTL {
				r.useMinimum(rec.data)
			}
			return rec, nil
		}
	}
	return record{}, fmt.Errorf("%s: the record has no type", shortened(textOf(e.fields)))
}

// useMinimum takes the last field of an SOA record without a TTL for $TTL, unless the file has that before: BIND
// reads older files so, and Windows writes them.
func (r *reader) useMinimum(soa []field) {
	if n := len(soa); !r.isTTLSet && n > 0 && ttlForm.MatchString(soa[n-1].text) {
		r.ttl, r.isTTLSet = parseTTL(soa[n-1].text), true
	}
}

// typeOf returns the name of a type in upper case, also for a number such as TYPE257 (RFC 3597).
func typeOf(s string) string {
	s = strings.ToUpper(s)
	if number, isNumber := strings.CutPrefix(s, "TYPE"); isNumber {
		n, err := strconv.ParseUint(number, 10, 16)
		if name := dns.Type(n).String(); err == nil && name == strings.ToUpper(name) { // unlike "Reserved" and "None"
			return name
		}
	}
	return s
}

// add adds a record to the sets, unless the zone's host creates it.
func (r *reader) add(rec record) error {
	name, err := dnsdata.NormalizeName(r.owner, r.domain)
	isHosts := rec.isHosts(name)
	if isHosts && rec.recordType == "SOA" && name != "@" && !strings.EqualFold(rec.name, r.domain) { // Cloudflare omits the dot
		return fmt.Errorf("the file is the zone of %.100s, not of %s", strings.TrimSuffix(r.owner, "."), r.domain)
	}
	if err := rec.check(isHosts); err != nil || isHosts {
		return err
	}
	if err := r.checkName(rec.name); err != nil {
		return err
	}
	switch {
	case err != nil && strings.Contains(r.owner, "/"):
		return errors.New("the name has a slash, as in the zone of a part of a network (RFC 2317); such zones are not possible here")
	case err != nil:
		return err
	case name == "@" && rec.recordType == dnsdata.TypeCNAME:
		return errors.New("the domain itself can't be a CNAME (RFC 1034, section 3.6.2); its host replaces it by addresses: write these as A and AAAA records")
	}
	rdata, err := r.rdata(rec.recordType, rec.data)
	if err != nil {
		return err
	}
	priority, value, err := dnsdata.ParseRDATA(rec.recordType, rdata)
	if err != nil {
		return err
	}
	if priority >= 0 {
		value = fmt.Sprintf("%d %s", priority, value)
	}
	ttl := min(max(rec.ttl, *ttlField.Minimum), *ttlField.Maximum)
	key := name + " " + rec.recordType
	set, exists := r.sets[key]
	if exists {
		ttl = min(ttl, set.TTL)
	}
	if !r.known[[2]string{key, value}] {
		r.known[[2]string{key, value}] = true
		set.Values = append(set.Values, value)
	}
	r.sets[key] = Set{ttl, set.Values}
	return nil
}

// targetAt contains the position of the host name in the data of a type.
var targetAt = map[string]int{dnsdata.TypeCNAME: 0, dnsdata.TypeNS: 0, dnsdata.TypeMX: 1, dnsdata.TypeSRV: 3}

// rdata returns the data of a record with complete names, and with strings in double quotes.
func (r *reader) rdata(recordType string, data []field) (string, error) {
	if len(data) > 0 && data[0] == (field{text: `\#`}) {
		return genericRDATA(recordType, data)
	}
	words := make([]string, len(data))
	for i, f := range data {
		words[i] = f.text
	}
	switch recordType {
	case dnsdata.TypeTXT:
		for i := range words {
			words[i] = unescape(words[i])
		}
		return dnsdata.Quote(strings.Join(words, "")), nil
	case dnsdata.TypeCAA:
		for i := 2; i < len(words); i++ {
			words[i] = dnsdata.Quote(unescape(words[i]))
		}
	default:
		if i, isTarget := targetAt[recordType]; isTarget && i < len(words) {
			if err := r.checkName(words[i]); err != nil {
				return "", err
			}
			words[i] = r.absolute(words[i])
		}
	}
	return strings.Join(words, " "), nil
}

// genericRDATA decodes data in the form for types that a server does not know (RFC 3597, section 5), as
// old servers write CAA.
func genericRDATA(recordType string, data []field) (string, error) {
	parser := dns.NewZoneParser(strings.NewReader(". 60 IN "+recordType+" "+textOf(data)), ".", "")
	rr, ok := parser.Next()
	if !ok {
		return "", errors.New(`the value in the form \# (RFC 3597) is invalid`)
	}
	return strings.TrimPrefix(rr.String(), rr.Header().String()), nil
}

// shortened shortens a record for a message, so that it lacks most of a key or policy.
func shortened(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
