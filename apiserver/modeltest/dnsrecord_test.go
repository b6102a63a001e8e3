package modeltest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// record is a DNS record in the model. Its position in the list is by its creation
// time, which responses don't include.
type record struct {
	id               int64
	domain           *domain
	name, typ, value string
	ttl              int
	priority         *int
	system           bool
}

func (m *machine) recordObject(r *record) obj {
	var priority any
	if r.priority != nil {
		priority = *r.priority
	}
	return obj{
		"id": learnNumber(&r.id), "name": r.name, "type": r.typ, "value": r.value, "ttl": r.ttl,
		"priority": priority, "is_system_managed": r.system,
	}
}

func learnNumber(id *int64) learn {
	return func(got any) error {
		n, _ := got.(json.Number)
		value, err := n.Int64()
		if err != nil || value < 1 || value >= 1<<53 {
			return unless(false, "is no id: %s", show(got))
		}
		if *id == 0 {
			*id = value
		}
		return unless(*id == value, "is %d; it was %d before", value, *id)
	}
}

// learnMailRecords reads the new domains, because a purchase's response contains only a
// part of them, and their built-in records: MX, SPF, DKIM and DMARC.
func (m *machine) learnMailRecords() {
	for _, d := range m.domains {
		if slices.ContainsFunc(m.records, func(r *record) bool { return r.domain == d }) {
			continue
		}
		a := m.send("", m.theOwner(), operation{method: "GET", path: "/dns-records", query: url.Values{"domain": {d.id}, "page_size": {"1000"}}})
		var page struct {
			Items []struct {
				ID                int64
				Name, Type, Value string
				TTL               int
				Priority          *int
				System            bool `json:"is_system_managed"`
			}
		}
		if err := json.Unmarshal(a.raw, &page); err != nil {
			m.fail("the records of %s are not listed: %s", d.name, err)
		}
		purposes := map[string]bool{}
		for _, i := range page.Items {
			if !i.System {
				m.fail("the new domain %s has the record %d", d.name, i.ID)
			}
			switch {
			case i.Type == "MX" && i.Name == "@" && i.Priority != nil:
				purposes["MX"] = true
			case i.Type == "TXT" && i.Name == "@" && strings.HasPrefix(i.Value, "v=spf1 "):
				purposes["SPF"] = true
			case i.Type == "TXT" && strings.HasSuffix(i.Name, "._domainkey") && strings.HasPrefix(i.Value, "v=DKIM1;"):
				purposes["DKIM"] = true
			case i.Type == "TXT" && i.Name == "_dmarc" && strings.HasPrefix(i.Value, "v=DMARC1;"):
				purposes["DMARC"] = true
			}
			m.records = append(m.records, &record{i.ID, d, i.Name, i.Type, i.Value, i.TTL, i.Priority, true})
		}
		if len(purposes) != 4 {
			m.fail("the new domain %s has records only for %v", d.name, purposes)
		}
		m.do(m.theOwner(), m.getDomain(d.id))
	}
}

// value is a record's value as sent, and its canonical form, which is empty for an
// invalid value.
type value struct{ spelled, canonical string }

var values = map[string][]value{
	"A":     {{"192.0.2.1", "192.0.2.1"}, {"192.0.2.2", "192.0.2.2"}, {"2001:db8::1", ""}, {"192.0.2.256", ""}, {"nonsense", ""}},
	"AAAA":  {{"2001:db8::1", "2001:db8::1"}, {"2001:DB8:0:0::1", "2001:db8::1"}, {"192.0.2.1", ""}, {"::g", ""}},
	"CNAME": {{"a.example.net", "a.example.net"}, {"A.Example.NET.", "a.example.net"}, {"b.example.net", "b.example.net"}, {"bücher.example", "xn--bcher-kva.example"}, {"no spaces", ""}},
	"TXT": {
		{"hello", "hello"}, {`"hello"`, "hello"}, {`"hel" "lo"`, "hello"}, {"Hello", "Hello"}, {`"open`, ""},
		{"v=spf1 -all", "v=spf1 -all"}, {`"v=spf1" " mx"`, "v=spf1 mx"}, {"V=SPF1", "V=SPF1"}, {"v=spf10", "v=spf10"},
		{"v=DMARC1; p=none", "v=DMARC1; p=none"}, {"v=DMARC1;p=reject", "v=DMARC1;p=reject"}, {"v=dmarc1; p=none", "v=dmarc1; p=none"},
	},
	"MX":  {{"mx.example.net", "mx.example.net"}, {"MX.example.net.", "mx.example.net"}, {".", "."}, {"mx1.mailhost.example", "mx1.mailhost.example"}, {"10 mx.example.net", ""}, {"m_x.example.net", ""}},
	"NS":  {{"ns.example.net", "ns.example.net"}, {"ns2.example.net", "ns2.example.net"}, {"192.0.2.1", ""}, {"_ns.example.net", ""}},
	"SRV": {{"5 443 sip.example.net", "5 443 sip.example.net"}, {"5 443 SIP.example.net.", "5 443 sip.example.net"}, {"0 0 .", "0 0 ."}, {"443 sip.example.net", ""}, {"5 65536 sip.example.net", ""}, {"5 443 s_p.example.net", ""}},
	"CAA": {{`0 issue "ca.example"`, `0 issue "ca.example"`}, {`0 issue ca.example`, `0 issue "ca.example"`}, {"issue", ""}},
}

var recordTypes = []string{"A", "CNAME", "TXT", "MX", "AAAA", "NS", "SRV", "CAA"}

// drawValue draws a value of a type; most are valid.
func (m *machine) drawValue(typ string) value {
	all := values[typ]
	if !m.rarely(6, "any value") {
		all = slices.DeleteFunc(slices.Clone(all), func(v value) bool { return v.canonical == "" })
	}
	return all[m.which("value", len(all))]
}

// recordName is a name as sent: relative to a domain, absolute, or the domain itself.
func (m *machine) recordName() string {
	name := draw(m, "name", "www", "@", "WWW", "_dmarc", "_x._tcp", "*", "mailhost._domainkey", "www.", "@.", "_dmarc.")
	switch {
	case name == "@.":
		name = ""
	case !strings.HasSuffix(name, "."):
		return name
	}
	if len(m.domains) == 0 {
		return "www"
	}
	return name + m.domains[m.which("zone", len(m.domains))].name + "."
}

// relative returns the stored name; ok is false for a name in another zone.
func relative(name string, d *domain) (string, bool) {
	absolute, isAbsolute := strings.CutSuffix(strings.ToLower(name), ".")
	switch {
	case !isAbsolute:
		return absolute, true
	case absolute == d.name:
		return "@", true
	}
	return strings.CutSuffix(absolute, "."+d.name)
}

// createRecord creates a record. A CNAME excludes other records at its name, and no two
// records are identical.
func (m *machine) createRecord() {
	typ := draw(m, "type", recordTypes...)
	v, name := m.drawValue(typ), m.recordName()
	body := obj{"domain": m.domainRef("domain"), "name": name, "type": typ, "value": v.spelled}
	var faults []problem
	if v.canonical == "" {
		faults = append(faults, wrong("body.value"))
	}
	if draw(m, "ttl", false, true) {
		body["ttl"] = draw(m, "ttl", 60, 86400, 300)
	}
	faults = append(faults, m.drawPriority(typ, body)...)
	m.do(m.caller(), operation{
		method: "POST", path: "/dns-records", body: body, capability: "dns_record.create", narrowable: true, keyed: true, faults: faults,
		then: func(who *caller) want {
			d, refusal := m.usableDomain(who, "dns_record.create", body)
			if refusal != nil {
				return *refusal
			}
			stored, inZone := relative(name, d)
			if !inZone {
				return unprocessable(wrong("body.name"))
			}
			r := &record{domain: d, name: stored, typ: typ, value: v.canonical, ttl: 3600}
			if ttl, given := body["ttl"].(int); given {
				r.ttl = ttl
			}
			if prio, given := body["prio"].(int); given {
				r.priority = &prio
			}
			if refusal := m.recordConflict(who, r); refusal != nil {
				return *refusal
			}
			m.records = append(m.records, r)
			return created(m.recordObject(r))
		},
	})
}

// drawPriority draws a priority, which only MX and SRV have.
func (m *machine) drawPriority(typ string, body obj) []problem {
	needed := typ == "MX" || typ == "SRV"
	given := needed != m.rarely(12, "wrong priority")
	if given {
		body["prio"] = draw(m, "prio", 10, 0, 65535)
	}
	switch {
	case needed && !given:
		return []problem{{loc: "body.prio", typ: "missing"}}
	case given && !needed:
		return []problem{wrong("body.prio")}
	}
	return nil
}

// recordConflict returns a conflict if the record can't exist beside the others at its
// name.
func (m *machine) recordConflict(who *caller, r *record) *want {
	for _, other := range m.records {
		if other == r || other.domain != r.domain || other.name != r.name {
			continue
		}
		kind, alike := kindOf(r), kindOf(r) != "" && kindOf(r) == kindOf(other)
		if alike && other.system || m.yields(other) {
			continue // a customer's records replace it
		}
		same := other.typ == r.typ && other.value == r.value && sameNumber(other.priority, r.priority)
		null := alike && kind == "MX" && (r.value == "." || other.value == ".")
		isKey := func(r *record) bool { return r.system && kindOf(r) == "" }
		secondKey := other.typ == r.typ && isKey(other) != isKey(r)
		if same || null || secondKey || r.typ == "CNAME" || other.typ == "CNAME" || alike && kind != "MX" {
			return new(conflictWith(strconv.FormatInt(other.id, 10), m.reach(who, "dns_record.view").domain(r.domain)))
		}
	}
	return nil
}

// kindOf returns the purpose of a record for which a customer's records replace the
// system-managed ones at their name.
func kindOf(r *record) string {
	first, _, _ := strings.Cut(r.value, " ")
	switch {
	case r.typ == "MX":
		return "MX"
	case r.typ == "TXT" && strings.ToLower(first) == "v=spf1":
		return "SPF"
	case r.typ == "TXT" && strings.HasPrefix(r.value, "v=DMARC1;"):
		return "DMARC"
	}
	return ""
}

// yields reports whether a customer's records replace a system-managed record.
func (m *machine) yields(r *record) bool {
	return r.system && kindOf(r) != "" && slices.ContainsFunc(m.records, func(own *record) bool {
		return !own.system && own.domain == r.domain && own.name == r.name && kindOf(own) == kindOf(r)
	})
}

func sameNumber(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// seenRecord returns a record that the caller may see.
func (m *machine) seenRecord(r reach, id string) *record {
	return find(m.records, func(other *record) bool {
		return strconv.FormatInt(other.id, 10) == id && r.domain(other.domain) && !m.yields(other)
	})
}

// recordID draws a record's id, with a preference for a customer's records.
func (m *machine) recordID() (id string, faults []problem) {
	system, other, n := m.rarely(3, "any record"), m.rarely(15, "other record"), m.which("record", many)
	own := without(slices.Clone(m.records), func(r *record) bool { return r.system && !system })
	if len(own) == 0 || other {
		if id = []string{"987654321", "x", "-1", "1.5"}[n%4]; id == "x" || id == "1.5" {
			faults = []problem{{loc: "path.dns_record_id", typ: "int_parsing"}}
		}
		return id, faults
	}
	return strconv.FormatInt(own[n%len(own)].id, 10), nil
}

// updateRecord updates a record; null means unchanged.
func (m *machine) updateRecord() {
	id, faults := m.recordID()
	typ := draw(m, "type", recordTypes...)
	if r := m.seenRecord(everything, id); r != nil {
		typ = r.typ
	}
	v, body := m.drawValue(typ), obj{}
	if draw(m, "value", true, false) {
		body["value"] = v.spelled
	}
	if draw(m, "ttl", false, true) {
		body["ttl"] = draw[any](m, "ttl", 60, nil)
	}
	if draw(m, "prio", false, false, true) {
		body["prio"] = draw[any](m, "prio", 10, 20, nil)
	}
	o := operation{method: "PATCH", path: "/dns-records/" + id, body: body, capability: "dns_record.update", faults: faults}
	m.do(m.caller(), on(m, o, "dns_record_id", id, m.seenRecord, func(who *caller, r *record) want {
		if r.system {
			return conflict(id)
		}
		changed, found := *r, []problem(nil)
		if _, given := body["value"]; given {
			if changed.value = v.canonical; v.canonical == "" {
				found = append(found, wrong("body.value"))
			}
		}
		if prio, given := body["prio"].(int); given {
			if changed.priority = &prio; r.priority == nil {
				found = append(found, wrong("body.prio"))
			}
		}
		if ttl, given := body["ttl"].(int); given {
			changed.ttl = ttl
		}
		if found != nil {
			return unprocessable(found...)
		}
		before := *r
		*r = changed
		if refusal := m.recordConflict(who, r); refusal != nil {
			*r = before
			return *refusal
		}
		return ok(m.recordObject(r))
	}))
}

func (m *machine) deleteRecord() {
	id, faults := m.recordID()
	o := operation{method: "DELETE", path: "/dns-records/" + id, capability: "dns_record.delete", faults: faults}
	m.do(m.caller(), on(m, o, "dns_record_id", id, m.seenRecord, func(_ *caller, r *record) want {
		if r.system {
			return conflict(id)
		}
		m.records = without(m.records, func(other *record) bool { return other == r })
		return deleted()
	}))
}

func (m *machine) readRecords() {
	if m.rarely(3, "one") {
		id, faults := m.recordID()
		o := m.getRecord(id)
		o.faults = faults
		m.do(m.caller(), o)
		return
	}
	l := m.listRecords(url.Values{})
	l.filter(m, "domain", m.domainRef("domain"))
	l.filter(m, "type", recordTypes...)
	l.filter(m, "name", "www", "@", "WWW", "_dmarc")
	l.do(m, m.caller())
}

func (m *machine) getRecord(id string) operation {
	return get(m, "/dns-records/", "dns_record.view", "dns_record_id", id, m.seenRecord, m.recordObject)
}

func (m *machine) listRecords(query url.Values) *listing {
	return list(m, "/dns-records", "dns_record.view", query, &m.records, m.recordObject, func(l *listing, r reach, v *record) bool {
		return r.domain(v.domain) && !m.yields(v) && l.inDomain(m, r, v.domain) && l.by("type", v.typ) && l.by("name", v.name)
	})
}
