package dnszone_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// company returns the records of a zone with the mail of a company, and n more names.
func company(n int) map[string]any {
	records := map[string]any{
		"@ A":        entry("192.0.2.1"),
		"@ MX":       entry("10 in.mailhost.example"),
		"@ TXT":      entry("v=spf1 include:_spf.mailhost.example -all", "verification=1"),
		"_dmarc TXT": entry("v=DMARC1; p=reject"),
	}
	for i := range n {
		records[fmt.Sprintf("host%02d A", i)] = entry("192.0.2.9")
	}
	return records
}

// without returns a copy of records without some keys.
func without(records map[string]any, keys ...string) map[string]any {
	copied := maps.Clone(records)
	for _, key := range keys {
		delete(copied, key)
	}
	return copied
}

// TestCutOff refuses a plan for a zone file that was cut off: of an applied zone, of an imported one, and of
// the first zone of a domain.
func TestCutOff(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	whole, rest := company(50), company(5)
	o, diags := p.Apply(t.Context(), typeName, zoneOf(whole), nil)
	p.NoErrors(diags)
	o = refreshed(p, o)
	imported, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	imported = refreshed(p, imported)
	for name, prior := range map[string]*acctest.Object{"applied": o, "imported": imported, "first": nil} {
		_, diags = p.Walk().Plan(typeName, zoneOf(rest), prior)
		acctest.Expect(t, diags, `ERROR at AttributeName("max_deletions"): The plan would remove 45 of the 52 names of example.com, and without max_deletions at most 15`,
			"\n  - host05 A\n", "\n  - host49 A\n", "Nothing was changed.", "cut off", "ignore", "removed block", "max_deletions = 45")
		assert.Check(t, is.Equal(strings.Contains(acctest.Render(diags), "-generate-config-out"), prior == nil), "%s: the way to take over what exists", name)
		_, diags = p.Walk().Plan(typeName, zoneOf(rest, "max_deletions", 44), prior)
		acctest.Expect(t, diags, "ERROR", "max_deletions is 44")
		_, diags = p.Walk().Plan(typeName, zoneOf(rest, "max_deletions", 45), prior)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "The plan removes 45 DNS records of example.com", "\n  - host05 A 192.0.2.9\n", "Concerns: DNS")
		_, diags = p.Walk().Plan(typeName, zoneOf(rest, "max_deletions", acctest.Unknown), prior)
		acctest.Expect(t, diags, "ERROR", "max_deletions is known only after the apply", "Set max_deletions to a value that the plan knows")
		_, diags = p.Walk().Plan(typeName, zoneOf(without(whole, "host00 A"), "max_deletions", 0), prior)
		acctest.Expect(t, diags, "ERROR", "would remove 1 of the 52 names of example.com, and max_deletions is 0")
	}
	// Nothing was changed, and a destroy is not limited.
	next, diags := p.Walk().Plan(typeName, zoneOf(whole), refreshed(p, o))
	assert.Check(t, len(diags) == 0 && next.State.Equal(o.State), acctest.Render(diags))
	_, diags = p.Walk().Plan(typeName, nil, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "The plan deletes 55 DNS records of example.com")
	// What ignore does not match any longer counts too.
	ignoring := zoneOf(rest, "ignore", []string{"host*"})
	ignoring["records"] = company(0)
	o, diags = p.Apply(t.Context(), typeName, ignoring, o)
	p.NoErrors(diags)
	_, diags = p.Walk().Plan(typeName, zoneOf(company(0)), refreshed(p, o))
	acctest.Expect(t, diags, "ERROR", "would remove 50 of the 52 names of example.com")
}

// TestSmallRemovals checks what a smaller removal says, and that everyday plans say nothing.
func TestSmallRemovals(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	whole := company(30)
	whole["www A"] = entry("192.0.2.1", "192.0.2.2")
	o, diags := p.Apply(t.Context(), typeName, zoneOf(whole), nil)
	p.NoErrors(diags)
	plan := func(o *acctest.Object, records map[string]any, more ...any) []*tfprotov6.Diagnostic {
		t.Helper()
		_, diags := p.Walk().Plan(typeName, zoneOf(records, more...), o)
		p.NoErrors(diags)
		return diags
	}
	changed := without(whole)
	changed["www A"], changed["new A"], changed["host00 A"] = entry("192.0.2.1", "192.0.2.3"), entry("192.0.2.9"), map[string]any{"values": []string{"192.0.2.9"}, "ttl": 300}
	diags = plan(o, changed)
	assert.Check(t, len(diags) == 0, "a changed value, a new name and a ttl: %s", acctest.Render(diags))
	changed["www A"] = entry("192.0.2.1")
	diags = plan(o, changed)
	acctest.Expect(t, diags, `WARNING at AttributeName("records"): The plan removes 1 DNS record of example.com`, "Managed by this zone so far:\n  - www A 192.0.2.2\n\n", "Concerns: DNS")
	assert.Check(t, len(diags) == 1, acctest.Render(diags))
	exist(t, s, contents{"www A 192.0.2.7": 3600})
	diags = plan(refreshed(p, o), changed)
	acctest.Expect(t, diags, "The plan removes 2 DNS records of example.com", "Managed by this zone so far:\n  - www A 192.0.2.2\n\nNot managed by this zone so far:\n  - www A 192.0.2.7\n\n")

	// The change of a setting sends nothing and loses nothing.
	settings, diags := p.Walk().Plan(typeName, zoneOf(whole, "max_deletions", 5), o)
	assert.Check(t, len(diags) == 0 && !settings.State.Equal(o.State), acctest.Render(diags))
	before := len(s.Sent())
	_, diags = p.Walk().ApplyPlan(t.Context(), typeName, zoneOf(whole, "max_deletions", 5), o, settings)
	assert.Check(t, len(diags) == 0 && len(s.Sent()) == before, "%v\n%s", s.Sent()[before:], acctest.Render(diags))
}

// TestReachOfAZone checks the warnings of a changed MX, SPF and DMARC, in both directions.
func TestReachOfAZone(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	p := s.Protocol(t, "")
	whole := company(3)
	plan := func(o *acctest.Object, config map[string]any, reaches int, parts ...string) {
		t.Helper()
		_, diags := p.Walk().Plan(typeName, config, o)
		p.NoErrors(diags)
		acctest.Expect(t, diags, parts...)
		assert.Check(t, is.Equal(strings.Count(acctest.Render(diags), "Concerns: reach"), reaches), acctest.Render(diags))
	}
	plan(nil, zoneOf(whole), 3, "changes the MX of example.com: mail goes to in.mailhost.example instead of mx1.mailhost.example and mx2.mailhost.example",
		"changes the SPF of example.com", "(built-in)", "changes the DMARC of example.com", "before: v=DMARC1; p=none (built-in)", "after: v=DMARC1; p=reject")
	plan(nil, map[string]any{"domain": "missing.com", "records": whole}, 0)
	o, diags := p.Apply(t.Context(), typeName, zoneOf(whole), nil)
	p.NoErrors(diags)
	with := func(key string, value map[string]any) map[string]any {
		records := without(whole)
		records[key] = value
		return zoneOf(records)
	}
	plan(o, with("@ MX", entry("10 mx1.new.example")), 1, "The plan changes the MX of example.com: mail goes to mx1.new.example instead of in.mailhost.example", "before: 10 in.mailhost.example", "after: 10 mx1.new.example")
	plan(o, with("@ MX", entry("10 IN.mailhost.example.")), 0)
	plan(o, with("@ MX", entry(acctest.Unknown)), 1, "a host that only the apply knows")
	plan(o, with("sub MX", entry("10 in.mailhost.example")), 0)
	plan(o, with("@ TXT", entry(acctest.Unknown, "verification=1")), 1, "changes the SPF of example.com", "after: (known only after the apply)")
	plan(o, with("@ TXT", entry("v=spf1 include:_spf.mailhost.example -all", "verification=2")), 0)
	plan(o, zoneOf(without(whole, "@ MX")), 1, "The plan removes 1 DNS record", "@ MX 10 in.mailhost.example", "mail goes to the service's own hosts instead of in.mailhost.example")
	plan(o, zoneOf(without(whole, "_dmarc TXT")), 1, "changes the DMARC of example.com", "after: the built-in record of the service")
	plan(o, nil, 3, "The plan deletes 8 DNS records", "mail goes to the service's own hosts instead of in.mailhost.example")
	moved := zoneOf(whole)
	moved["domain"] = "example.org"
	plan(o, moved, 6, "The plan deletes 8 DNS records of example.com", "changes the MX of example.com", "changes the MX of example.org: mail goes to in.mailhost.example instead of mx1")
	// Records that others manage from now on stay in force.
	plan(o, zoneOf(without(whole, "@ MX"), "ignore", []string{"@ MX"}), 0)

	// An update that begins to replace the built-in records finds them in the list of the refresh.
	o, diags = p.Apply(t.Context(), typeName, zoneOf(without(whole, "@ MX")), o)
	p.NoErrors(diags)
	var lists atomic.Int32
	q := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/dns-records") {
			lists.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	for _, c := range []struct {
		refresh bool
		records map[string]any
		want    int32
	}{{true, whole, 1}, {false, whole, 1}, {false, without(whole, "@ MX"), 0}, {true, without(whole, "@ MX", "host00 A"), 1}} {
		q.Together()
		lists.Store(0)
		if c.refresh {
			o, diags = q.Read(typeName, o)
			q.NoErrors(diags)
		}
		_, diags = q.Plan(typeName, zoneOf(c.records), o)
		q.NoErrors(diags)
		assert.Check(t, is.Equal(lists.Load(), c.want))
	}
}

// TestMoveBetweenZoneAndRecord hands a name over between a zone and a single record that exclude each
// other, in one apply, over an API that takes a while for each delete.
func TestMoveBetweenZoneAndRecord(t *testing.T) {
	t.Parallel()
	const single = "mailhost_dns_record"
	cname := map[string]any{"domain": "example.com", "name": "www", "type": "CNAME", "value": "example.net"}
	address := map[string]any{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}
	for _, toZone := range []bool{true, false} {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodDelete {
				time.Sleep(300 * time.Millisecond)
			}
			next.ServeHTTP(w, r)
		}))
		type object struct {
			typeName      string
			before, after map[string]any
		}
		objects := []object{
			{typeName, zoneOf(map[string]any{}, "ignore", []string{"www CNAME"}), zoneOf(map[string]any{"www A": entry("192.0.2.1")}, "ignore", []string{"www CNAME"})},
			{single, cname, nil},
		}
		if !toZone {
			objects = []object{
				{typeName, zoneOf(map[string]any{"www CNAME": entry("example.net")}, "ignore", []string{"www A"}), zoneOf(map[string]any{}, "ignore", []string{"www A"})},
				{single, nil, address},
			}
		}
		prior, plans := make([]*acctest.Object, 2), make([]*acctest.Object, 2)
		for i, o := range objects {
			if o.before != nil {
				var diags []*tfprotov6.Diagnostic
				prior[i], diags = p.Apply(t.Context(), o.typeName, o.before, nil)
				p.NoErrors(diags)
			}
		}
		p.Together()
		for i, o := range objects {
			if prior[i] != nil {
				prior[i] = refreshedIn(p, o.typeName, prior[i])
			}
		}
		for i, o := range objects {
			var diags []*tfprotov6.Diagnostic
			plans[i], diags = p.Plan(o.typeName, o.after, prior[i])
			p.NoErrors(diags)
		}
		p.Together()
		var wg sync.WaitGroup
		for i, o := range objects {
			wg.Go(func() {
				_, diags := p.ApplyPlan(t.Context(), o.typeName, o.after, prior[i], plans[i])
				p.NoErrors(diags)
			})
		}
		wg.Wait()
		expectExisting(t, s, contents{"www A 192.0.2.1": int(api.DefaultDNSTTL)})
	}
}

func refreshedIn(p *acctest.Protocol, typeName string, o *acctest.Object) *acctest.Object {
	o, diags := p.Read(typeName, o)
	p.NoErrors(diags)
	return o
}

var bullet = regexp.MustCompile(`(?m)^  - (.*)$`)

// TestRandomRemovals changes random zones, with records of others and patterns in ignore. A plan is refused
// exactly if it would remove more than 30 % of the names and at least ten, or more than max_deletions.
// Otherwise it names every record that the apply removes, and nothing else, but for values of the zone
// that become other values of their entry.
func TestRandomRemovals(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 46))
			s := acctest.NewServer(t, acctest.Options{})
			s.Domain(t, "example.com")
			p := s.Protocol(t, "")
			draw := func(most int) (map[string]any, contents) {
				records, all := map[string]any{}, contents{}
				for range rnd.IntN(most + 1) {
					key := fmt.Sprintf("n%02d %s", rnd.IntN(most), []string{"A", "TXT"}[rnd.IntN(2)])
					var values []any
					for v := range 1 + rnd.IntN(2) {
						value := fmt.Sprintf("192.0.2.%d", 10*v+rnd.IntN(4))
						values = append(values, value)
					}
					records[key] = entry(values...)
				}
				for key, e := range records {
					for _, v := range e.(map[string]any)["values"].([]any) {
						all[key+" "+v.(string)] = int(api.DefaultDNSTTL)
					}
				}
				return records, all
			}
			_, others := draw(20)
			exist(t, s, others)
			var o *acctest.Object
			written := contents{}
			for round := range 6 {
				if rnd.IntN(3) == 0 {
					exist(t, s, contents{fmt.Sprintf("foreign%d A 192.0.2.9", round): 300})
				}
				if o != nil {
					o = refreshed(p, o)
				}
				records, want := draw([]int{4, 40}[rnd.IntN(2)])
				config := zoneOf(records)
				limit := -1
				if rnd.IntN(3) == 0 {
					limit = rnd.IntN(12)
					config["max_deletions"] = limit
				}
				before := existing(t, s)
				removed, all, lost := contents{}, names(before), 0
				for line := range before {
					if _, ok := want[line]; !ok {
						removed[line] = 0
					}
				}
				for name := range all {
					if !names(want)[name] {
						lost++
					}
				}
				isRefused := lost >= 10 && lost*100 > len(all)*30
				if limit >= 0 {
					isRefused = lost > limit
				}
				plan, diags := p.Walk().Plan(typeName, config, o)
				text := acctest.Render(diags)
				assert.Assert(t, isRefused == (acctest.Errors(diags) > 0), "round %d, max_deletions %d: %d of %d names are lost\n%s", round, limit, lost, len(all), text)
				if isRefused {
					acctest.Expect(t, diags, fmt.Sprintf("would remove %d of the %d names", lost, len(all)))
					assert.Check(t, maps.Equal(existing(t, s), before))
					config["max_deletions"] = lost
					plan, diags = p.Walk().Plan(typeName, config, o)
					text = acctest.Render(diags)
				}
				p.NoErrors(diags)
				named := contents{}
				for _, match := range bullet.FindAllStringSubmatch(text, -1) {
					named[match[1]] = 0
				}
				o, diags = p.Walk().ApplyPlan(t.Context(), typeName, config, o, plan)
				p.NoErrors(diags)
				after := existing(t, s)
				assert.Assert(t, maps.Equal(after, want), "round %d", round)
				for line := range named {
					_, isRemoved := removed[line]
					assert.Check(t, isRemoved, "round %d: the plan names %s", round, line)
				}
				// The removed records that the plan does not name became others of their key.
				added := map[string]int{}
				for line := range want {
					if _, existed := before[line]; !existed {
						added[keyOf(line)]++
					}
				}
				for _, line := range slices.Sorted(maps.Keys(removed)) {
					if _, isNamed := named[line]; isNamed {
						continue
					}
					_, isOwn := written[line]
					added[keyOf(line)]--
					assert.Check(t, isOwn && added[keyOf(line)] >= 0, "round %d: the plan does not name %s\n%s", round, line, text)
				}
				written = want
			}
		})
	}
}

func keyOf(line string) string {
	fields := strings.SplitN(line, " ", 3)
	return fields[0] + " " + fields[1]
}

// names returns the names that have a record.
func names(c contents) map[string]bool {
	all := map[string]bool{}
	for line := range c {
		name, _, _ := strings.Cut(line, " ")
		all[name] = true
	}
	return all
}

// TestLimit checks the number of names that a plan may remove without max_deletions. Records that ignore
// matches are not the zone's.
func TestLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names, removed, ignored int
		isRefused               bool
	}{{9, 9, 0, false}, {10, 9, 0, false}, {10, 10, 0, true}, {33, 10, 0, true}, {34, 10, 0, false}, {34, 11, 0, true}, {33, 10, 20, true}} {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		for i := range c.names {
			exist(t, s, contents{fmt.Sprintf("n%d A 192.0.2.1", i): 300})
		}
		for i := range c.ignored {
			exist(t, s, contents{fmt.Sprintf("i%d.dyn A 192.0.2.1", i): 300})
		}
		records := map[string]any{}
		for i := range c.names - c.removed {
			records[fmt.Sprintf("n%d A", i)] = entry("192.0.2.1")
		}
		_, diags := s.Protocol(t, "").Plan(typeName, zoneOf(records, "ignore", []string{"*.dyn"}), nil)
		assert.Check(t, (acctest.Errors(diags) > 0) == c.isRefused, "%+v: %s", c, acctest.Render(diags))
	}
}

// TestNewDomain checks that the first apply of a company warns of nothing: in a domain that the same apply
// buys, no other MX, SPF or DMARC was in force.
func TestNewDomain(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	contact := acctest.Registrant
	domain := map[string]any{"name": "example.com", "workspace_id": s.WorkspaceID, "contact_info": map[string]any{
		"first_name": contact.FirstName, "last_name": contact.LastName, "organization": contact.Organization, "email": contact.Email, "phone": contact.Phone,
		"address_1": contact.Address1, "zip": contact.Zip, "city": contact.City, "state": contact.State, "country": contact.Country,
	}}
	p.Together()
	bought, diags := p.Plan("mailhost_domain", domain, nil)
	p.NoErrors(diags)
	mail := map[string]any{"domain": "example.com", "name": "@", "type": "MX", "value": "in.mailhost.example", "priority": 10}
	plan := func(domain any) {
		t.Helper()
		mail["domain"] = domain
		config := zoneOf(company(1))
		config["domain"] = domain
		for typeName, config := range map[string]map[string]any{typeName: config, "mailhost_dns_record": mail} {
			_, diags := p.Plan(typeName, config, nil)
			assert.Check(t, !strings.Contains(acctest.Render(diags), "Concerns: reach"), "%s: %s", typeName, acctest.Render(diags))
		}
	}
	plan("example.com")
	p.Together()
	_, diags = p.Plan("mailhost_domain", domain, nil)
	p.NoErrors(diags)
	made, diags := p.ApplyPlan(t.Context(), "mailhost_domain", domain, nil, bought)
	p.NoErrors(diags)
	plan("example.com")
	plan(made.Text("id"))
}
