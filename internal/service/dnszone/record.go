package dnszone

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
)

// recordKey identifies the records of one name and type, in canonical form.
type recordKey struct{ name, recordType string }

// String returns the key in the spelling of the map records.
func (k recordKey) String() string { return k.name + " " + k.recordType }

// record is the content of a DNS record in canonical form: records with the same content
// are the same record. The TTL does not distinguish them.
type record struct {
	recordKey
	// rdata is the value without the priority.
	rdata string
	// priority is -1 for a type without one.
	priority int64
}

// value returns the value in the spelling of the map records, with the priority in front.
func (r record) value() string {
	if r.priority < 0 {
		return r.rdata
	}
	return strconv.FormatInt(r.priority, 10) + " " + r.rdata
}

// String returns the record as a line of a zone file without its TTL.
func (r record) String() string { return r.recordKey.String() + " " + r.value() }

// compare orders records by name and type, the domain itself first.
func (r record) compare(other record) int {
	return cmp.Or(cmp.Compare(r.name, other.name), cmp.Compare(r.recordType, other.recordType), cmp.Compare(r.priority, other.priority), cmp.Compare(r.rdata, other.rdata))
}

func (r record) prio() *int64 {
	if r.priority < 0 {
		return nil
	}
	return &r.priority
}

// purpose returns the record's use by mail software, or "".
func (r record) purpose() dnsdata.Purpose { return dnsdata.PurposeOf(r.recordType, r.rdata) }

func (r record) isNullMX() bool { return dnsdata.IsNullMX(r.recordType, r.rdata) }

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

// parseValue parses a value of a key, the RDATA in the syntax of zone files.
func parseValue(k recordKey, s string) (record, error) {
	priority, rdata, err := dnsdata.ParseRDATA(k.recordType, s)
	if err != nil {
		return record{}, err
	}
	return record{recordKey: k, priority: priority, rdata: rdata}, nil
}

func sorted[V any](records map[record]V) []record {
	return slices.SortedFunc(maps.Keys(records), record.compare)
}

// lines describes records, one per line, for a list in a message.
func lines[R fmt.Stringer](records []R) []string {
	all := make([]string, len(records))
	for i, r := range records {
		all[i] = shortened(r.String())
	}
	return all
}

func shortened(s string) string {
	const most = 160
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// entry is an entry of the map records: the records of one name and type.
type entry struct {
	// spelled is the configured key.
	spelled string
	// key is the zero value for an invalid key, explained by keyErr.
	key    recordKey
	keyErr error
	ttl    types.Int64
	// values is nil if the list is null or unknown.
	values []entryValue
	// isKnown reports whether every value is known, isMissing whether the list is missing.
	isKnown, isMissing bool
}

// entryValue is a value of an entry. record is set for a valid value.
type entryValue struct {
	spelled types.String
	record  record
	err     error
}

// isValid reports whether the value is known and valid, and its key valid.
func (v entryValue) isValid() bool { return v.record != record{} }

// entriesOf parses the map records, in the order of its keys. domain is the domain's name, or "" if unknown.
func entriesOf(records types.Map, domain string) []entry {
	elements := records.Elements()
	all := make([]entry, 0, len(elements))
	for _, spelled := range slices.Sorted(maps.Keys(elements)) {
		all = append(all, entryOf(spelled, elements[spelled], domain))
	}
	return all
}

func entryOf(spelled string, element attr.Value, domain string) entry {
	e := entry{spelled: spelled}
	e.key, e.keyErr = parseKey(spelled, domain)
	object, _ := element.(types.Object)
	if object.IsUnknown() {
		return e
	}
	fields := object.Attributes()
	e.ttl, _ = fields["ttl"].(types.Int64)
	list, _ := fields["values"].(types.List)
	if list.IsNull() || list.IsUnknown() {
		e.isMissing = list.IsNull()
		return e
	}
	e.isKnown = true
	for _, element := range list.Elements() {
		v := entryValue{}
		v.spelled, _ = element.(types.String)
		if v.spelled.IsUnknown() {
			e.isKnown = false
		} else if e.keyErr == nil {
			v.record, v.err = parseValue(e.key, v.spelled.ValueString())
		}
		e.values = append(e.values, v)
	}
	return e
}

// withKeptTTLs returns the configured entries with a TTL for each: an entry without one keeps the TTL of its
// key in prior, and a new key gets the default.
func withKeptTTLs(configured, prior []entry) []entry {
	kept := make(map[recordKey]types.Int64, len(prior))
	for _, e := range prior {
		kept[e.key] = e.ttl
	}
	configured = slices.Clone(configured)
	for i, e := range configured {
		ttl, exists := kept[e.key]
		switch {
		case !e.ttl.IsNull():
		case exists && e.keyErr == nil:
			configured[i].ttl = ttl
		default:
			configured[i].ttl = types.Int64Value(api.DefaultDNSTTL)
		}
	}
	return configured
}

// existingEntries returns the entries of existing records, for the plan that takes them over. A TTL other than
// the default is unknown: the same apply may delete the record first, if it belonged to another resource.
func existingEntries(existing map[record]int64, domain string) []entry {
	all := entriesOf(flatten(existing), domain)
	for i := range all {
		if all[i].ttl.ValueInt64() != api.DefaultDNSTTL {
			all[i].ttl = types.Int64Unknown()
		}
	}
	return all
}

// withUnknownTTLs returns the configured entries, where one without a TTL has an unknown TTL.
func withUnknownTTLs(configured []entry) []entry {
	configured = slices.Clone(configured)
	for i := range configured {
		if configured[i].ttl.IsNull() {
			configured[i].ttl = types.Int64Unknown()
		}
	}
	return configured
}

// withActualTTLs returns planned records with the actual TTLs in place of unknown ones.
func withActualTTLs(planned types.Map, actual map[record]int64, entries []entry) types.Map {
	elements := planned.Elements()
	for _, e := range entries {
		if e.ttl.IsUnknown() {
			elements[e.spelled] = entryObject(ttlOf(slices.Collect(maps.Keys(contents([]entry{e}))), actual, e), elements[e.spelled].(types.Object).Attributes()["values"])
		}
	}
	return types.MapValueMust(entryType, elements)
}

// contents returns the records of entries with their TTLs: mixedTTL for an unknown one, and for null in a
// state. It omits unknown and invalid values.
func contents(entries []entry) map[record]int64 {
	all := make(map[record]int64, len(entries))
	for _, e := range entries {
		for _, v := range e.values {
			if v.isValid() {
				all[v.record] = e.ttl.ValueInt64()
			}
		}
	}
	return all
}

// The types of the map records.
var (
	valuesType = types.ListType{ElemType: types.StringType}
	entryType  = types.ObjectType{AttrTypes: map[string]attr.Type{"ttl": types.Int64Type, "values": valuesType}}
)

func entryObject(ttl types.Int64, values attr.Value) attr.Value {
	return types.ObjectValueMust(entryType.AttrTypes, map[string]attr.Value{"ttl": ttl, "values": values})
}

// flatten returns the map records for the domain's records with their TTLs, in the spelling and the
// order of the entries. If two entries share a key, the first counts.
func flatten(actual map[record]int64, spellings ...entry) types.Map {
	byKey := map[recordKey][]record{}
	for _, r := range sorted(actual) {
		byKey[r.recordKey] = append(byKey[r.recordKey], r)
	}
	spelling := make(map[recordKey]entry, len(spellings))
	for _, e := range slices.Backward(spellings) {
		spelling[e.key] = e
	}
	elements := make(map[string]attr.Value, len(byKey))
	for key, records := range byKey {
		e, ok := spelling[key]
		if !ok {
			e = entry{spelled: key.String()}
		}
		elements[e.spelled] = entryObject(ttlOf(records, actual, e), spelledValues(records, e))
	}
	return types.MapValueMust(entryType, elements)
}

// ttlOf returns the TTL of a key's records: the first that differs from the entry's, so that a plan
// shows the difference. If the entry sets no TTL, as after an import, different TTLs become null.
func ttlOf(records []record, actual map[record]int64, e entry) types.Int64 {
	expected := e.ttl.ValueInt64()
	isExpected := expected != mixedTTL // mixedTTL is the value of null too
	if !isExpected {
		expected = actual[records[0]]
	}
	for _, r := range records {
		switch {
		case actual[r] == expected:
		case isExpected:
			return types.Int64Value(actual[r])
		default:
			return types.Int64Null()
		}
	}
	return types.Int64Value(expected)
}

// spelledValues returns the values of a key's records. The values of the entry come first, in its order
// and spelling.
func spelledValues(records []record, e entry) types.List {
	position := make(map[record]int, len(e.values))
	spelled := make(map[record]string, len(e.values))
	for i, v := range e.values {
		if v.isValid() {
			position[v.record], spelled[v.record] = i-len(e.values), v.spelled.ValueString()
		}
	}
	records = slices.SortedStableFunc(slices.Values(records), func(a, b record) int { return cmp.Compare(position[a], position[b]) })
	values := make([]attr.Value, len(records))
	for i, r := range records {
		values[i] = types.StringValue(cmp.Or(spelled[r], r.value()))
	}
	return types.ListValueMust(types.StringType, values)
}

// keepSpelling returns the configured map with the TTLs of configured, and with the state's spelling of equal
// values. If both maps mean the same, it returns the state's map.
func keepSpelling(config types.Map, configured []entry, state types.Map, prior []entry) types.Map {
	if config.IsNull() || config.IsUnknown() {
		return config
	}
	if !state.IsNull() && isSame(configured, prior) {
		return state
	}
	priorElements, elements := state.Elements(), make(map[string]attr.Value, len(configured))
	bySpelling := make(map[string]entry, len(prior))
	for _, e := range prior {
		bySpelling[e.spelled] = e
	}
	configElements := config.Elements()
	for _, e := range configured {
		object, _ := configElements[e.spelled].(types.Object)
		if object.IsNull() || object.IsUnknown() {
			elements[e.spelled] = configElements[e.spelled]
			continue
		}
		values := object.Attributes()["values"]
		if before, ok := bySpelling[e.spelled]; ok && e.hasSameValues(before) {
			values = priorElements[e.spelled].(types.Object).Attributes()["values"]
		}
		ttl := e.ttl
		if ttl.Equal(types.Int64Value(mixedTTL)) {
			ttl = types.Int64Null()
		}
		elements[e.spelled] = entryObject(ttl, values)
	}
	return types.MapValueMust(entryType, elements)
}

// hasSameValues reports whether the entry is known and both entries contain the same values.
func (e entry) hasSameValues(other entry) bool {
	return e.isKnown && maps.EqualFunc(contents([]entry{e}), contents([]entry{other}), func(_, _ int64) bool { return true })
}

// isSame reports whether the configured entries are known, and mean the same as the prior entries.
func isSame(configured, prior []entry) bool {
	return !slices.ContainsFunc(configured, func(e entry) bool { return !e.isKnown || e.ttl.IsUnknown() }) && maps.Equal(contents(configured), contents(prior))
}
