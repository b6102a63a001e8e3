package dnszone_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// pool contains, for each key, values that can exist together. A TXT record of pool[…][0] and
// a TXT record of pool[…][1] have the same purpose, so only one of them is drawn.
var pool = map[string][]string{
	"@ A":      {"192.0.2.1", "192.0.2.2", "192.0.2.3"},
	"@ MX":     {"10 mx1.example.net", "20 mx2.example.net", "20 mx1.example.net", "0 ."},
	"@ TXT":    {"v=spf1 -all", "v=spf1 mx -all", "verification=1", "Verification=1"},
	"www A":    {"192.0.2.1", "192.0.2.2"},
	"www TXT":  {"v=spf1 -all", "v=spf1 mx -all", "hello"},
	"www AAAA": {"2001:db8::1", "2001:db8::2"},
	// The CNAME excludes the keys of the same name.
	"www CNAME":       {"host.example.net", "other.example.net"},
	"xn--bcher-kva A": {"192.0.2.7"},
	"_dmarc TXT":      {"v=DMARC1; p=none", "v=DMARC1; p=reject"},
	"_imaps._tcp SRV": {"0 5 993 imap.example.net", "5 5 993 imap.example.net"},
	"@ CAA":           {`0 issue "ca.example.net"`, `0 iodef "mailto:ca@example.net"`},
}

// contents maps records, as lines of a zone file, to their TTLs.
type contents map[string]int

// draw returns a random valid zone by key.
func draw(rnd *rand.Rand) map[string]map[string]any {
	zone := map[string]map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(pool)) {
		if rnd.IntN(2) == 0 || strings.HasPrefix(key, "www ") && zone["www CNAME"] != nil {
			continue
		}
		values := slices.Clone(pool[key])
		rnd.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		values = values[:1+rnd.IntN(len(values))]
		switch {
		case key == "www CNAME", key == "_dmarc TXT":
			values = values[:1]
		case key == "@ MX" && values[0] == "0 .":
			values = values[:1]
		case key == "@ MX":
			values = slices.DeleteFunc(values, func(v string) bool { return v == "0 ." })
		case strings.HasSuffix(key, "TXT") && slices.Contains(values, "v=spf1 -all"):
			values = slices.DeleteFunc(values, func(v string) bool { return v == "v=spf1 mx -all" })
		}
		if key == "www CNAME" {
			maps.DeleteFunc(zone, func(k string, _ map[string]any) bool { return strings.HasPrefix(k, "www ") })
		}
		zone[key] = map[string]any{"values": values}
		if rnd.IntN(2) == 0 {
			zone[key]["ttl"] = []int{300, 3600, 7200}[rnd.IntN(3)]
		}
	}
	return zone
}

// of adds the records of a zone. An entry without a TTL keeps the one of its key in before.
func (c contents) of(zone map[string]map[string]any, before contents) contents {
	for key, entry := range zone {
		ttl, ok := entry["ttl"].(int)
		if !ok {
			ttl = int(api.DefaultDNSTTL)
			for line, kept := range before {
				if strings.HasPrefix(line, key+" ") {
					ttl = kept
				}
			}
		}
		for _, v := range entry["values"].([]string) {
			c[key+" "+v] = ttl
		}
	}
	return c
}

// respelled returns the zone in another spelling.
func respelled(rnd *rand.Rand, zone map[string]map[string]any) map[string]any {
	other := map[string]any{}
	for key, entry := range zone {
		name, recordType, _ := strings.Cut(key, " ")
		names := []string{name, strings.ToUpper(name), name + ".Example.com", name + ".example.com."}
		switch name {
		case "@":
			names = []string{"@", "example.COM", "example.com."}
		case "xn--bcher-kva":
			names = append(names, "Bücher")
		}
		values := make([]string, len(entry["values"].([]string)))
		for i, v := range entry["values"].([]string) {
			spellings := []string{v}
			switch recordType {
			case "TXT":
				spellings = append(spellings, `"`+v+`"`, `"`+v[:2]+`" "`+v[2:]+`"`)
			case "MX", "SRV", "CNAME":
				if !strings.HasSuffix(v, ".") {
					spellings = append(spellings, strings.ToUpper(v), v+".", strings.Replace(v, " ", "  ", 1))
				}
			case "AAAA":
				spellings = append(spellings, strings.ToUpper(v), strings.Replace(v, "::", ":0:0:0:0:0:", 1))
			}
			values[i] = spellings[rnd.IntN(len(spellings))]
		}
		rnd.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		copied := maps.Clone(entry)
		copied["values"] = values
		if rnd.IntN(2) == 0 {
			recordType = strings.ToLower(recordType)
		}
		other[names[rnd.IntN(len(names))]+" "+recordType] = copied
	}
	return other
}

// exist creates records outside of Terraform.
func exist(t *testing.T, s *acctest.Server, records contents) {
	t.Helper()
	for line, ttl := range records {
		fields := strings.SplitN(line, " ", 3)
		body := api.CreateDNSRecordBody{Domain: "example.com", Name: fields[0], Type: fields[1], Value: fields[2], TTL: new(int64(ttl))}
		if fields[1] == "MX" || fields[1] == "SRV" {
			var n int64
			priority, rest, _ := strings.Cut(fields[2], " ")
			_, err := fmt.Sscan(priority, &n)
			assert.NilError(t, err)
			body.Prio, body.Value = &n, rest
		}
		_, err := s.Client.CreateDNSRecord(t.Context(), body)
		assert.NilError(t, err)
	}
}

// existing returns the domain's records that are not system-managed.
func existing(t *testing.T, s *acctest.Server) contents {
	t.Helper()
	all := contents{}
	for r, err := range s.Client.ListDNSRecords(t.Context(), api.ListDNSRecordsRequest{Domain: "example.com"}) {
		assert.NilError(t, err)
		if r.IsSystemManaged {
			continue
		}
		value := r.Value
		if r.Priority != nil {
			value = fmt.Sprintf("%d %s", *r.Priority, value)
		}
		all[r.Name+" "+r.Type+" "+value] = int(r.TTL)
	}
	return all
}

// keys returns the names and types of records.
func (c contents) keys() map[string]bool {
	all := map[string]bool{}
	for line := range c {
		fields := strings.SplitN(line, " ", 3)
		all[fields[0]+" "+fields[1]] = true
	}
	return all
}

// TestRandomZones changes random zones into each other, with records that others add
// before and after the plan. Whatever the spelling, an apply ends in the configured
// records and an empty plan. An update removes only records named by its plan, a create
// names the records that it removed, and a key with records before and after the apply is
// never without a record.
func TestRandomZones(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := acctest.NewServer(t, acctest.Options{})
			s.Domain(t, "example.com")
			before := draw(rnd)
			exist(t, s, contents{}.of(before, nil))

			// kept are the keys that require a record at all times.
			kept := map[string]bool{}
			p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(w, r)
				if r.Method == http.MethodGet {
					return
				}
				now := existing(t, s).keys()
				for key := range kept {
					assert.Check(t, now[key], "after %s %s there is no %s", r.Method, r.URL.Path, key)
				}
			}))
			var o *acctest.Object
			for round := range 4 {
				want := draw(rnd)
				kept = maps.Clone(contents{}.of(before, nil).keys())
				maps.DeleteFunc(kept, func(key string, _ bool) bool { return want[key] == nil })
				config := map[string]any{"domain": "example.com", "records": respelled(rnd, want)}
				if round > 0 {
					exist(t, s, contents{fmt.Sprintf("foreign%d A 192.0.2.9", round): 300})
					o = refreshed(p, o)
				}
				planned := existing(t, s)
				plan, diags := p.Walk().Plan(typeName, config, o)
				p.NoErrors(diags)
				wanted := contents{}.of(want, planned)
				for line := range planned {
					if _, isWanted := wanted[line]; !isWanted && (round == 0 || strings.HasPrefix(line, "foreign")) {
						acctest.Expect(t, diags, "WARNING at AttributeName(\"records\"): The plan removes ", "\n  - "+line+"\n")
					}
				}
				late := fmt.Sprintf("late%d A 192.0.2.10", round)
				exist(t, s, contents{late: 300})
				o, diags = p.Walk().ApplyPlan(t.Context(), typeName, config, o, plan)
				p.NoErrors(diags)
				expected := maps.Clone(wanted)
				if round == 0 {
					acctest.Expect(t, diags, " removed\nThe zone has taken the domain over", late)
				} else {
					acctest.Expect(t, diags, "1 DNS record of example.com appeared after the plan", late)
					expected[late] = 300
				}
				got := existing(t, s)
				assert.Assert(t, maps.Equal(got, expected), "round %d: the domain has %v, want %v", round, got, expected)
				o = refreshed(p, o)
				if round > 0 {
					plan, diags = p.Walk().Plan(typeName, config, o)
					acctest.Expect(t, diags, "The plan removes 1 DNS record of example.com", late)
					o, diags = p.Walk().ApplyPlan(t.Context(), typeName, config, o, plan)
					p.NoErrors(diags)
					o = refreshed(p, o)
				}
				for _, other := range []map[string]any{config, {"domain": "EXAMPLE.com.", "records": respelled(rnd, want)}} {
					plan, diags = p.Walk().Plan(typeName, other, o)
					assert.Assert(t, len(diags) == 0 && plan.State.Equal(o.State), "round %d: the second plan of %v is %s\n%s", round, other["records"], plan.State, acctest.Render(diags))
				}
				before = want
			}
		})
	}
}

func refreshed(p *acctest.Protocol, o *acctest.Object) *acctest.Object {
	o, diags := p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	return o
}
