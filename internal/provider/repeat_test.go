package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// planned is a plan of one object: of a create without prior, of a destroy without config.
type planned struct {
	typeName string
	config   values
	prior    *acctest.Object
}

// outcome validates, refreshes and plans objects in a new walk. It returns the values, the private states
// and the diagnostics as text.
func outcome(p *acctest.Protocol, plans ...planned) string {
	var b strings.Builder
	p.Together()
	for _, c := range plans {
		if c.config != nil {
			diags := p.Validate(c.typeName, c.config)
			b.WriteString(acctest.Render(diags))
			if acctest.Errors(diags) > 0 {
				continue
			}
		}
		if c.prior != nil {
			o, diags := p.Read(c.typeName, c.prior)
			fmt.Fprintf(&b, "%s\n%s\n%s", o.State, o.Private, acctest.Render(diags))
		}
		o, diags := p.Plan(c.typeName, c.config, c.prior)
		fmt.Fprintf(&b, "%s\n%s\n%s", o.State, o.Private, acctest.Render(diags))
		if len(o.Replace) > 0 {
			o, diags = p.Plan(c.typeName, c.config, nil)
			fmt.Fprintf(&b, "%s\n%s\n%s", o.State, o.Private, acctest.Render(diags))
		}
	}
	return b.String()
}

// TestPlansRepeat makes each plan many times, each in a new walk. The outcome is always the same: it depends
// on the order of no Go map. A choice of two by chance passes 20 times once in a million runs.
func TestPlansRepeat(t *testing.T) {
	t.Parallel()
	times := 20
	if testing.Short() {
		times = 5
	}
	repeat := func(name string, s *acctest.Server, plans ...planned) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.Protocol(t, "")
			first := outcome(p, plans...)
			for range times {
				if got := outcome(p, plans...); got != first {
					assert.Check(t, is.Equal(got, first))
					return
				}
			}
		})
	}
	repeatKinds(t, repeat)
	repeatSets(t, repeat)
	repeatZones(t, repeat)
}

type repeats = func(name string, s *acctest.Server, plans ...planned)

// repeatKinds plans each kind, with and without an existing object.
func repeatKinds(t *testing.T, repeat repeats) {
	t.Helper()
	fresh, s := acctest.NewServer(t, acctest.Options{}), acctest.NewServer(t, acctest.Options{})
	for typeName, k := range withSet(t, fresh) {
		repeat(typeName+"/create", fresh, planned{typeName: typeName, config: k.config})
	}
	p := s.Protocol(t, "")
	for typeName, k := range withSet(t, s) {
		o, diags := p.Apply(t.Context(), typeName, k.config, nil)
		p.NoErrors(diags)
		changed := merged(k.config, k.change)
		repeat(typeName+"/change", s, planned{typeName, changed, o})
		repeat(typeName+"/destroy", s, planned{typeName, nil, o})
		if k.again != nil {
			repeat(typeName+"/again", s, planned{typeName, k.again, o})
		}
		if k.replacing != nil {
			repeat(typeName+"/replace", s, planned{typeName, k.replacing, o})
		}
		repeat(typeName+"/exists", s, planned{typeName: typeName, config: changed})
		if hasAttribute(t, typeName, "on_existing") {
			repeat(typeName+"/adopt", s, planned{typeName: typeName, config: with(changed, "on_existing", "adopt")})
		}
	}
}

// repeatSets plans sets of many mailboxes with keys in other cases than the API's.
func repeatSets(t *testing.T, repeat repeats) {
	t.Helper()
	const typeName, many = "mailhost_mailbox_set", 12
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	set := func(settings values, format string, from, to int) values {
		entries := values{}
		for i := from; i < to; i++ {
			entries[fmt.Sprintf(format, i)] = values{"first_name": "Jane", "last_name": fmt.Sprintf("Doe %s", format), fmt.Sprintf("note%d", i): "x"}
		}
		return merged(values{"domain": "Example.com", "mailboxes": entries}, settings)
	}
	for i := range many { // made by hand
		s.Mailbox(t, "example.com", fmt.Sprintf("hand%d", i))
	}
	p := s.Protocol(t, "")
	staff := set(values{"max_deletions": 99}, "Staff%d", 0, many)
	o, diags := p.Apply(t.Context(), typeName, staff, nil)
	p.NoErrors(diags)
	imported, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	for i := range many {
		target := fmt.Sprintf("staff%d@example.com", i)
		_, diags := p.Apply(t.Context(), "mailhost_forwarding", values{"target_email": target, "domain": "example.org"}, nil)
		p.NoErrors(diags)
	}
	retired := values{}
	for i := range many {
		retired[fmt.Sprintf("STAFF%d", i)] = []string{"delete", "keep"}[i%2]
	}
	mailbox := planned{typeName: "mailhost_mailbox", config: values{"domain": "example.com", "local_part": "staff1", "first_name": "Jane", "last_name": "Doe", "on_existing": "adopt"}}

	repeat("set/create", s, planned{typeName: typeName, config: set(nil, "New%d", 0, many)})
	repeat("set/exists", s, planned{typeName: typeName, config: set(nil, "Hand%d", 0, many)})
	repeat("set/adopt", s, planned{typeName: typeName, config: set(values{"on_existing": "adopt"}, "Hand%d", 0, many+many)})
	repeat("set/created twice", s, planned{typeName: typeName, config: set(nil, "New%d", 0, many)}, planned{typeName: typeName, config: set(nil, "NEW%d", 5, many)})
	repeat("set/same", s, planned{typeName, staff, o})
	repeat("set/other spelling", s, planned{typeName, set(nil, "sTaff%d", 0, many), o})
	repeat("set/refused", s, planned{typeName, set(nil, "staff%d", 7, many), o})
	repeat("set/deleted", s, planned{typeName, set(values{"max_deletions": 99}, "staff%d", many/2, many+many), o})
	repeat("set/unknown number", s, planned{typeName, set(values{"max_deletions": acctest.Unknown}, "staff%d", many/2, many), o})
	repeat("set/retired", s, planned{typeName, set(values{"retired": retired}, "staff%d", many/2, many), o})
	repeat("set/retired, unknown", s, planned{typeName, set(values{"retired": acctest.Unknown}, "staff%d", many/2, many), o})
	repeat("set/retired in a state with two spellings", s, planned{typeName, nil, p.With(typeName, o, "retired", values{
		"Staff1": "delete", "staff1": "keep", "STAFF1": "delete", "sTaff1": "keep", "staff2": "delete", "Staff2": "delete",
	})})
	repeat("set/invalid", s, planned{typeName: typeName, config: values{
		"domain": "example.com", "retired": values{"BOB": "delete", "bob": "keep", "Bob": "Delete", "eve": "no"},
		"mailboxes": values{"Ann": values{}, "ann": values{"first_name": 5}, "a b": "x", "c d": nil, "ANN": values{"first_name": "A", "last_name": "B"}},
	}})
	repeat("set/adopted by another", s, mailbox, planned{typeName, staff, o})
	repeat("set/adopted by another, destroyed", s, mailbox, planned{typeName, nil, o})
	repeat("set/destroyed", s, planned{typeName, nil, o})
	repeat("set/replaced", s, planned{typeName, with(staff, "domain", "example.org"), o})
	repeat("set/imported", s, planned{typeName, set(nil, "Hand%d", 0, many), imported})
	repeat("set/imported, retired", s, planned{typeName, set(values{"retired": retired}, "Hand%d", 0, many), imported})
}

// repeatZones plans zones of many records with keys in several spellings.
func repeatZones(t *testing.T, repeat repeats) {
	t.Helper()
	const typeName, many = "mailhost_dns_zone", 12
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	for i := range many {
		_, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.org", Name: fmt.Sprintf("hand%d", i), Type: "A", Value: "192.0.2.1"})
		assert.NilError(t, err)
	}
	zone := func(settings values, format, value string, from, to int) values {
		records := values{"@ MX": values{"values": []string{"10 mx1.example.net.", "20 MX2.example.net."}}, "@ TXT": values{"values": []string{"\"v=spf1 -all\"", "x"}}}
		for i := from; i < to; i++ {
			records[fmt.Sprintf(format, i)] = values{"values": []string{value, "192.0.2.9", fmt.Sprintf("192.0.2.%d", 10+i)}, "ttl": 300 + i}
		}
		return merged(values{"domain": "Example.com", "records": records}, settings)
	}
	p := s.Protocol(t, "")
	web := zone(nil, "Web%d A", "192.0.2.1", 0, many)
	o, diags := p.Apply(t.Context(), typeName, web, nil)
	p.NoErrors(diags)
	for i := range many { // records of others
		_, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: fmt.Sprintf("other%d", i), Type: "A", Value: "192.0.2.1"})
		assert.NilError(t, err)
	}
	o, diags = p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	imported, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	var single []planned
	for i := range many {
		single = append(single, planned{typeName: "mailhost_dns_record", config: values{"domain": "example.com", "name": fmt.Sprintf("web%d", i), "type": "A", "value": "192.0.2.77"}})
	}
	repeat("zone/takes over", s, planned{typeName: typeName, config: zone(values{"domain": "example.org"}, "Web%d A", "192.0.2.1", 0, many)})
	repeat("zone/same", s, planned{typeName, web, o})
	repeat("zone/other spelling", s, planned{typeName, zone(nil, "wEB%d.example.com. a", "192.0.2.1", 0, many), o})
	repeat("zone/changed", s, planned{typeName, zone(nil, "web%d A", "192.0.2.2", 2, many+many), o})
	repeat("zone/cut off", s, planned{typeName, zone(nil, "web%d A", "192.0.2.1", 0, 2), o})
	repeat("zone/ignores", s, planned{typeName, zone(values{"ignore": []string{"web*", "other1*"}}, "www%d A", "192.0.2.1", 0, 2), o})
	repeat("zone/unknown", s, planned{typeName, zone(values{"records": acctest.Unknown}, "web%d A", "192.0.2.1", 0, 2), o})
	repeat("zone/invalid", s, planned{typeName: typeName, config: values{"domain": "example.com", "records": values{
		"www A": values{"values": []string{"x"}}, "WWW a": values{"values": []string{"192.0.2.1"}}, "b": values{"values": []string{"y"}}, "@ CNAME": values{"values": []string{"z"}}, "c TXT": values{},
	}}})
	repeat("zone/single records", s, append(single, planned{typeName, web, o})...)
	repeat("zone/single records after it", s, append([]planned{{typeName, web, o}}, single...)...)
	repeat("zone/destroyed", s, planned{typeName, nil, o})
	repeat("zone/replaced", s, planned{typeName, with(web, "domain", "example.org"), o})
	repeat("zone/imported", s, planned{typeName, web, imported})
}
