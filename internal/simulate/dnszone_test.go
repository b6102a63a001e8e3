package simulate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
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

func (d *generator) zoneArguments(c *core.Configuration) map[string]any {
	out := map[string]any{"domain": d.domain(c), "records": d.zoneEntries(map[string]any{}, d.rand.IntN(5))}
	if chance(d.rand, 30) {
		out["ignore"] = []string{pick(d.rand, slices.Sorted(maps.Keys(ignorePatterns)))}
	}
	if chance(d.rand, 20) {
		out["max_deletions"] = pick(d.rand, []int{1, 10})
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
func (d *generator) repairZone(b *core.Block) {
	if core.TypeOf(b.Addr) != zoneType {
		return
	}
	records := maps.Clone(b.Arguments["records"].(map[string]any))
	maps.DeleteFunc(records, func(key string, _ any) bool { return ignores(b.Arguments["ignore"], canonicalKey(key)) })
	b.Arguments["records"] = records
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

// linesOf returns the records of a zone's object with their TTLs, which are 0 if the object sets none.
func linesOf(v core.Value) map[string]int {
	out := map[string]int{}
	for key, e := range core.Attributes(core.Attributes(v)["records"]) {
		name, recordType, _ := strings.Cut(canonicalKey(key), " ")
		ttl := number(e, "ttl")
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
func touches(c *core.Change, t touchedRecord) bool {
	if c.Action == core.NoOp || c.Action == core.Forget {
		return false
	}
	if core.TypeOf(c.Addr) == "mailhost_dns_record" {
		return c.Before != nil && c.Before.ID() == t.id && (!t.deleted || c.Action != core.Update)
	}
	if core.TypeOf(c.Addr) != zoneType {
		return false
	}
	wanted := map[string]int{}
	if !c.After.Gone() {
		wanted = linesOf(c.After.State)
	}
	ofDomain := func(v core.Value) bool {
		id := core.Text(v, "domain_id")
		return id == "" || id == t.domain // unknown if the apply created the domain
	}
	if _, ok := wanted[t.line]; ok && !c.After.Gone() && ofDomain(c.After.State) && !t.deleted {
		return true // its TTL
	}
	if !c.After.Gone() && ofDomain(c.After.State) && (c.Action == core.Create || c.Action.Replaces() || slices.Contains(textList(c.After.State, "purged"), t.line)) {
		return true // a create takes over the domain's records at the apply
	}
	if c.Before == nil || c.Action == core.Create || !ofDomain(c.Before.State) {
		return false
	}
	_, had := linesOf(c.Before.State)[t.line]
	_, kept := wanted[t.line]
	if c.Action == core.Destroy || c.Action.Replaces() { // a destroyed zone leaves the records that others added
		return had && (c.Forced || slices.ContainsFunc(c.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "The plan deletes ") && strings.Contains(w, "\n  - "+t.line)
		}))
	}
	return had && !kept
}

// checkRecords checks that the provider changed and deleted only records that some plan names.
func (w *environment) checkRecords(outcomes []outcome) {
	for _, t := range w.touched {
		if !slices.ContainsFunc(outcomes, func(o outcome) bool {
			return slices.ContainsFunc(o.plan.Changes, func(c *core.Change) bool {
				adopts := core.TypeOf(c.Addr) == "mailhost_dns_record" && core.Text(c.After.State, "on_existing") == "adopt"
				return touches(c, t) || !t.deleted && adopts
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

// checkZone checks that a domain contains exactly the records of a zone's block.
func (h *history) checkZone(s *stack, b *core.Block, o *core.Object) {
	want := linesOf(core.NewValue(loadSchemas().Resources[zoneType].Type, map[string]any{"records": b.Arguments["records"]}))
	actual := map[string]int{}
	must(h.db.View(h.context(), func(r store.Reader) error {
		found, _, err := r.DNSRecords(h.accounts[s.account].id, store.DNSRecordFilter{DomainID: o.ID()}, store.Slice{Limit: 1000})
		for _, record := range found {
			ttl, wanted := want[lineOf(record)]
			if wanted && ttl == 0 { // an existing record keeps its TTL
				want[lineOf(record)] = int(record.TTL)
			}
			switch {
			case record.SystemManaged || ignores(b.Arguments["ignore"], strings.ToLower(record.Name)+" "+record.Type):
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
		h.report.fail("not as configured", "%s: the domain has %v, want %v", b.Addr, actual, want)
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
