package simulate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const zoneType = "mailhost_dns_zone"

// zoneRecords are the keys of zones in their spellings, with values that can exist together.
var zoneRecords = []struct{ keys, values []string }{
	{[]string{"www A", "WWW a"}, []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}},
	{[]string{"ftp A"}, []string{"192.0.2.1"}},
	{[]string{"txt TXT", "Txt TXT"}, []string{"hello world", `"other"`}},
	{[]string{"@ TXT"}, []string{"verification=1", "Verification=1"}},
	{[]string{"sub MX"}, []string{"10 mail.example.com", "20 mail.example.com", "10 Backup.example.com."}},
	{[]string{"@ MX"}, []string{"10 mx.example.net"}},
	{[]string{"_dmarc TXT"}, []string{"v=DMARC1; p=none"}},
}

// The records of "alias" exclude one another.
var aliasRecords = []struct{ keys, values []string }{
	{[]string{"alias CNAME"}, []string{"example.com"}},
	{[]string{"alias A", "Alias A"}, []string{"192.0.2.9"}},
}

// ignorePatterns are values of ignore, with the keys that they match.
var ignorePatterns = map[string]func(key string) bool{
	"foreign*": func(key string) bool { return strings.HasPrefix(key, "foreign") },
	"ftp":      func(key string) bool { return strings.HasPrefix(key, "ftp ") },
	"txt TXT":  func(key string) bool { return key == "txt TXT" },
	"?ww A":    func(key string) bool { return key == "www A" },
}

func ignores(patterns any, key string) bool {
	list, _ := patterns.([]string)
	return slices.ContainsFunc(list, func(p string) bool { return ignorePatterns[p](key) })
}

func (d *generator) zoneArguments(c *configuration) map[string]any {
	out := map[string]any{"domain": d.domain(c), "records": d.zoneEntries(map[string]any{}, d.rand.IntN(5))}
	if chance(d.rand, 30) {
		out["ignore"] = []string{pick(d.rand, slices.Sorted(maps.Keys(ignorePatterns)))}
	}
	return out
}

// zoneEntries returns the records of a zone with n random changes.
func (d *generator) zoneEntries(from map[string]any, n int) map[string]any {
	out, r := maps.Clone(from), d.rand
	for range n {
		of := pick(r, zoneRecords)
		if chance(r, 15) {
			of = pick(r, aliasRecords)
			maps.DeleteFunc(out, func(key string, _ any) bool {
				return canonicalKey(key) != canonicalKey(of.keys[0]) && strings.HasPrefix(canonicalKey(key), "alias ")
			})
		}
		old := ""
		for _, key := range of.keys {
			if _, ok := out[key]; ok {
				old = key
			}
		}
		delete(out, old)
		if old != "" && chance(r, 40) {
			continue
		}
		values := slices.Clone(of.values)
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		e := map[string]any{"values": values[:1+r.IntN(len(values))]}
		if chance(r, 40) {
			e["ttl"] = pick(r, []int{300, 3600})
		}
		out[pick(r, of.keys)] = e
	}
	return out
}

// canonicalKey returns a key of records as ignorePatterns compare it.
func canonicalKey(key string) string {
	name, recordType, _ := strings.Cut(key, " ")
	return strings.ToLower(name) + " " + strings.ToUpper(recordType)
}

// repairZone removes the records that ignore matches.
func (d *generator) repairZone(b *block) {
	if typeOf(b.addr) != zoneType {
		return
	}
	records := maps.Clone(b.arguments["records"].(map[string]any))
	maps.DeleteFunc(records, func(key string, _ any) bool { return ignores(b.arguments["ignore"], canonicalKey(key)) })
	b.arguments["records"] = records
}

// line returns a record as a line of a zone file.
func line(name, recordType, value string) string {
	if dnsdata.TypeNeedsPriority(recordType) {
		priority, host, _ := strings.Cut(value, " ")
		return fmt.Sprintf("%s %s %s %s", name, recordType, priority, normalizedValue(recordType, host))
	}
	return fmt.Sprintf("%s %s %s", name, recordType, normalizedValue(recordType, value))
}

func normalizedValue(recordType, value string) string {
	if n, err := dnsdata.NormalizeValue(recordType, value); err == nil {
		return n
	}
	return value
}

func lineOf(r store.DNSRecord) string {
	if r.Priority != nil {
		return line(r.Name, r.Type, strconv.FormatInt(*r.Priority, 10)+" "+r.Value)
	}
	return line(r.Name, r.Type, r.Value)
}

// linesOf returns the records of a zone's object with their TTLs.
func linesOf(v value) map[string]int {
	out := map[string]int{}
	for key, e := range attributesOf(attributesOf(v)["records"]) {
		name, recordType, _ := strings.Cut(canonicalKey(key), " ")
		ttl := number(e, "ttl")
		if ttl == 0 {
			ttl = int(api.DefaultDNSTTL)
		}
		for _, v := range textList(e, "values") {
			out[line(name, recordType, v)] = ttl
		}
	}
	return out
}

// touchedRecord is a DNS record that the provider changes or deletes.
type touchedRecord struct {
	id, domain, line string
	deleted          bool
}

// touches reports whether a plan said that a change of a zone changes or deletes a record.
func (c *change) touches(t touchedRecord) bool {
	if c.action == noOp || c.action == forget {
		return false
	}
	if typeOf(c.addr) == "mailhost_dns_record" {
		return c.before != nil && c.before.id() == t.id && (!t.deleted || c.action != update)
	}
	if typeOf(c.addr) != zoneType {
		return false
	}
	wanted := map[string]int{}
	if !c.after.IsNull() {
		wanted = linesOf(c.after)
	}
	ofDomain := func(v value) bool {
		id := text(v, "domain_id")
		return id == "" || id == t.domain // unknown if the apply has created the domain
	}
	if _, ok := wanted[t.line]; ok && !c.after.IsNull() && ofDomain(c.after) && !t.deleted {
		return true // its TTL
	}
	if !c.after.IsNull() && ofDomain(c.after) && (c.action == create || c.action.replaces() || slices.Contains(textList(c.after, "purged"), t.line)) {
		return true // a create takes over what the domain has at the apply
	}
	if c.before == nil || c.action == create || !ofDomain(c.before.value) {
		return false
	}
	_, had := linesOf(c.before.value)[t.line]
	_, kept := wanted[t.line]
	if c.action == destroy || c.action.replaces() { // a zone that is destroyed leaves what others have added
		return had && (c.forced || slices.ContainsFunc(c.warnings, func(w string) bool {
			return strings.HasPrefix(w, "The plan deletes ") && strings.Contains(w, "\n  - "+t.line)
		}))
	}
	return had && !kept
}

// checkRecords checks that the provider has changed and deleted only records that some plan
// names.
func (w *environment) checkRecords(outcomes []outcome) {
	for _, t := range w.touched {
		if !slices.ContainsFunc(outcomes, func(o outcome) bool {
			return slices.ContainsFunc(o.plan.changes, func(c *change) bool {
				adopts := typeOf(c.addr) == "mailhost_dns_record" && text(c.after, "on_existing") == "adopt"
				return c.touches(t) || !t.deleted && adopts
			})
		}) {
			w.report.fail("unplanned change", "the record %s (%s) was changed or deleted, and no plan says so", t.line, t.id)
		}
	}
	w.touched = nil
}

// noteTouched notes that the provider is about to change or delete a record.
func (w *environment) noteTouched(run *run, method, path string) {
	id, ok := strings.CutPrefix(path, "/dns-records/")
	if !ok || method != "PATCH" && method != "DELETE" {
		return
	}
	n, err := strconv.ParseInt(id, 10, 64)
	must(err)
	must(w.db.View(context.Background(), func(r store.Reader) error {
		if found, err := store.Get[store.DNSRecord](r, w.accounts[run.account].id, n); err == nil {
			w.touched = append(w.touched, touchedRecord{id, found.DomainID, lineOf(found), method == "DELETE"})
		}
		return nil
	}))
}

// checkZone checks that a domain has exactly the records that a zone's block says.
func (h *history) checkZone(s *stack, b *block, o *object) {
	want := linesOf(newValue(loadSchemas().resources[zoneType].objectType, map[string]any{"records": b.arguments["records"]}))
	actual := map[string]int{}
	must(h.db.View(h.context(), func(r store.Reader) error {
		found, _, err := r.DNSRecords(h.accounts[s.account].id, store.DNSRecordFilter{DomainID: o.id()}, store.Slice{Limit: 1000})
		for _, record := range found {
			_, wanted := want[lineOf(record)]
			switch {
			case record.SystemManaged || ignores(b.arguments["ignore"], strings.ToLower(record.Name)+" "+record.Type):
			case h.publishedOnly && !wanted: // it can't be seen
			case h.publishedOnly: // nor its TTL
				actual[lineOf(record)] = want[lineOf(record)]
			default:
				actual[lineOf(record)] = int(record.TTL)
			}
		}
		return err
	}))
	if !maps.Equal(actual, want) {
		h.report.fail("not as configured", "%s: the domain has %v, want %v", b.addr, actual, want)
	}
}

// externalRecord creates a DNS record outside Terraform.
func (h *history) externalRecord(r *rand.Rand, a account, domain string) {
	h.externalRequest(a, "POST", "/dns-records", fmt.Sprintf(pick(r, []string{
		`{"domain":%q,"name":"foreign","type":"A","value":"192.0.2.99"}`,
		`{"domain":%q,"name":"foreign2","type":"TXT","value":"foreign"}`,
		`{"domain":%q,"name":"www","type":"A","value":"192.0.2.99","ttl":300}`,
		`{"domain":%q,"name":"www","type":"A","value":"192.0.2.1","ttl":300}`,
		`{"domain":%q,"name":"ftp","type":"A","value":"192.0.2.1"}`,
		`{"domain":%q,"name":"alias","type":"A","value":"192.0.2.99"}`,
		`{"domain":%q,"name":"@","type":"MX","value":"foreign.example.net","prio":10}`,
	}), domain))
}
