package dnszone

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// recordKey identifies the records of one name and type, in canonical form.
type recordKey struct{ name, recordType string }

// String returns the key as records has it.
func (k recordKey) String() string { return k.name + " " + k.recordType }

// compare orders keys by name and type, the domain itself first.
func (k recordKey) compare(other recordKey) int {
	return cmp.Or(cmp.Compare(k.name, other.name), cmp.Compare(k.recordType, other.recordType))
}

// record is the content of a DNS record in canonical form: records with the same content
// are the same record. The TTL does not distinguish them.
type record struct {
	recordKey
	// rdata is the value without the priority.
	rdata string
	// priority is -1 for a type without one.
	priority int64
}

// value returns the record's value as records has it, with the priority in front.
func (r record) value() string {
	if r.priority < 0 {
		return r.rdata
	}
	return strconv.FormatInt(r.priority, 10) + " " + r.rdata
}

// String returns the record as a line of a zone file without its TTL.
func (r record) String() string { return r.recordKey.String() + " " + r.value() }

func (r record) compare(other record) int {
	return cmp.Or(r.recordKey.compare(other.recordKey), cmp.Compare(r.priority, other.priority), cmp.Compare(r.rdata, other.rdata))
}

// prio returns the priority for a request.
func (r record) prio() *int64 {
	if r.priority < 0 {
		return nil
	}
	return &r.priority
}

// purpose returns the use of the record by mail software, or "".
func (r record) purpose() dnsdata.Purpose { return dnsdata.PurposeOf(r.recordType, r.rdata) }

func (r record) isNullMX() bool { return dnsdata.IsNullMX(r.recordType, r.rdata) }

// recordOf returns the content of a record of the API.
func recordOf(r *api.DNSRecord, domain string) record {
	content := record{recordKey: recordKey{name: r.Name, recordType: r.Type}, rdata: r.Value, priority: -1}
	if name, err := dnsdata.NormalizeName(r.Name, domain); err == nil {
		content.name = name
	}
	if value, err := dnsdata.NormalizeValue(r.Type, r.Value); err == nil {
		content.rdata = value
	}
	if r.Priority != nil {
		content.priority = *r.Priority
	}
	return content
}

const keyForm = `a name and a type, such as "www A", "@ MX" or "_imaps._tcp SRV"`

// parseKey parses a key of records. domain is "" if it is unknown.
func parseKey(s, domain string) (recordKey, error) {
	fields := strings.Fields(s)
	if len(fields) != 2 {
		return recordKey{}, errors.New("expected " + keyForm)
	}
	recordType, err := dnsdata.NormalizeType(fields[1])
	if err != nil {
		return recordKey{}, err
	}
	name, err := dnsdata.NormalizeName(fields[0], domain)
	if err != nil {
		return recordKey{}, err
	}
	return recordKey{name, recordType}, nil
}

// parseValue parses a value of a key: the RDATA as in a zone file.
func parseValue(k recordKey, s string) (record, error) {
	r := record{recordKey: k, priority: -1}
	rdata := s
	if dnsdata.TypeNeedsPriority(k.recordType) {
		first, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(s, "\t", " ")), " ")
		n, err := strconv.ParseUint(first, 10, 16)
		if err != nil || rest == "" {
			return r, fmt.Errorf("the value of %s must begin with a priority from 0 to 65535, such as %q", k.recordType, exampleOf[k.recordType])
		}
		r.priority, rdata = int64(n), rest
	}
	var err error
	if r.rdata, err = dnsdata.NormalizeValue(k.recordType, rdata); err != nil && r.priority >= 0 {
		err = fmt.Errorf("after the priority %d: %w", r.priority, err)
	}
	return r, err
}

var exampleOf = map[string]string{dnsdata.TypeMX: "10 mail.example.com.", dnsdata.TypeSRV: "0 5 443 sip.example.com."}

// sorted returns the records in order.
func sorted[V any](records map[record]V) []record {
	all := make([]record, 0, len(records))
	for r := range records {
		all = append(all, r)
	}
	slices.SortFunc(all, record.compare)
	return all
}

// lines describes records for a list in a message.
func lines(records []record) []string {
	all := make([]string, len(records))
	for i, r := range records {
		all[i] = shortened(r.String())
	}
	return all
}

// shortened returns the beginning of a long text.
func shortened(s string) string {
	const most = 160
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
