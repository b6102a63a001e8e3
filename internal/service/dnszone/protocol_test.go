package dnszone_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_dns_zone"

// entry returns an entry of records with the default TTL.
func entry(values ...any) map[string]any { return map[string]any{"values": values} }

// zoneOf returns the configuration of a zone.
func zoneOf(records map[string]any, more ...any) map[string]any {
	config := map[string]any{"domain": "example.com", "records": records}
	for i := 0; i < len(more); i += 2 {
		config[more[i].(string)] = more[i+1]
	}
	return config
}

// expectExisting fails the test unless the domain has exactly these records.
func expectExisting(t *testing.T, s *acctest.Server, want contents) {
	t.Helper()
	got := existing(t, s)
	assert.Assert(t, maps.Equal(got, want), "the domain has %v, want %v", got, want)
}

// TestEveryProblemAtOnce checks that the validation reports each problem at its own path.
func TestEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	diags := s.Protocol(t, "").Validate(typeName, zoneOf(map[string]any{
		"www":             entry("192.0.2.1"),
		"www LOC":         entry("x"),
		"web A":           entry("192.0.2.1", "nonsense", "192.0.2.1"),
		"@ MX":            entry("mail.example.com.", "70000 mail.example.com", "10 a_b.example.com"),
		"sub MX":          entry("0 .", "10 mail.example.net"),
		"_sip._tcp SRV":   entry("0 5 sip.example.net."),
		"@ TXT":           entry("v=spf1 -all", "v=spf1 mx -all", `"open`),
		"example.com TXT": entry("other"),
		"blog CNAME":      entry("a.example.net", "b.example.net"),
		"blog A":          entry("192.0.2.1"),
		"self CNAME":      entry("self.example.com."),
		"@ CNAME":         entry("a.example.net"),
		"none A":          entry(),
		"nil A":           entry(nil),
		"a..b A":          entry("192.0.2.1"),
		"null A":          map[string]any{"ttl": 90000},
		"ttl A":           map[string]any{"ttl": 5, "values": []string{"192.0.2.1"}},
		"dyn A":           entry("192.0.2.1"),
	}, "ignore", []string{"d?n", "[a]", "x y z", "a.example.org.", "dä*", "x LOC", "a..b"}))
	text := acctest.Render(diags)
	for at, problem := range map[string]string{
		`records["www"]`:                     "Expected a name and a type",
		`records["www LOC"]`:                 "Unsupported record type",
		`records["web A"].values[1]`:         "IPv4 address",
		`records["web A"].values[2]`:         "the same as values[0]",
		`records["@ MX"].values[0]`:          "must begin with a priority",
		`records["@ MX"].values[1]`:          "must begin with a priority",
		`records["@ MX"].values[2]`:          "nvalid target",
		`records["sub MX"].values[0]`:        "null MX",
		`records["_sip._tcp SRV"].values[0]`: "fields, not three",
		`records["@ TXT"].values[1]`:         "at most one SPF record",
		`records["@ TXT"].values[2]`:         "quotes",
		`records["example.com TXT"]`:         `the same as the key "@ TXT"`,
		`records["blog CNAME"].values[1]`:    "at most one CNAME",
		`records["blog A"]`:                  "a CNAME excludes",
		`records["self CNAME"].values[0]`:    "its own name",
		`records["@ CNAME"]`:                 "The domain itself can't be a CNAME",
		`records["none A"].values`:           "at least one value",
		`records["null A"].values`:           "at least one value",
		`records["ttl A"].ttl`:               "between 60 and 86400",
		`records["null A"].ttl`:              "between 60 and 86400",
		`records["dyn A"]`:                   "the pattern number 1 matches",
		`ignore[1]`:                          "no other special characters",
		`ignore[2]`:                          "Expected a name relative",
		`ignore[3]`:                          "outside the domain",
		`ignore[4]`:                          "must be in ASCII",
		`ignore[5]`:                          "Unsupported record type",
		`ignore[6]`:                          "empty",
		`records["a..b A"]`:                  "empty",
		`records["nil A"].values[0]`:         "must not be null",
	} {
		i := strings.Index(text, "\n"+at)
		if i < 0 {
			t.Errorf("no error at %s in\n%s", at, text)
			continue
		}
		line, _, _ := strings.Cut(text[i+1:], "\n")
		assert.Check(t, strings.Contains(line, problem), "%q does not mention %q", line, problem)
	}
	// @ MX, @ TXT and example.com TXT are at the name of a CNAME too.
	got := acctest.Errors(diags)
	assert.Check(t, got == 32, "%d errors:\n%s", got, text)
}

// TestUnknown checks plans with unknown values, which an apply knows.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	for name, config := range map[string]map[string]any{
		"everything": {"domain": acctest.Unknown, "records": acctest.Unknown, "ignore": acctest.Unknown},
		"domain":     {"domain": acctest.Unknown, "records": map[string]any{"www.example.com. A": entry("192.0.2.1")}, "ignore": []string{"*.example.com."}},
		"values":     zoneOf(map[string]any{"www A": map[string]any{"values": acctest.Unknown}, "web A": entry("192.0.2.1", acctest.Unknown)}, "ignore", []any{acctest.Unknown}),
		"entry":      zoneOf(map[string]any{"www A": acctest.Unknown, "web A": map[string]any{"ttl": acctest.Unknown, "values": []string{"192.0.2.1"}}}),
	} {
		t.Log(name)
		p.NoErrors(p.Validate(typeName, config))
		_, diags := p.Plan(typeName, config, nil)
		p.NoErrors(diags)
		warns := strings.Contains(acctest.Render(diags), `WARNING at AttributeName("domain"): The plan can't name the DNS records that the zone removes`)
		assert.Check(t, warns == (config["domain"] == acctest.Unknown), "%s: %s", name, acctest.Render(diags))
	}

	// A plan can't know what an unknown value replaces.
	exist(t, s, contents{"www A 192.0.2.9": 300})
	unknown := zoneOf(map[string]any{"www A": entry(acctest.Unknown)})
	for _, config := range []map[string]any{unknown, {"domain": d.ID, "records": acctest.Unknown}, zoneOf(nil, "ignore", []any{acctest.Unknown})} {
		_, diags := p.Walk().Plan(typeName, config, nil)
		acctest.Expect(t, diags, "WARNING", "removes 1 DNS record", "www A 192.0.2.9", "known only after the apply")
	}
	o, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	o = refreshed(p, o)
	_, diags = p.Plan(typeName, unknown, o)
	acctest.Expect(t, diags, "WARNING", "removes 1 DNS record", "www A 192.0.2.9")
	// An unknown value is a change, even if every value of the state is configured too.
	exist(t, s, contents{"web A 192.0.2.1": 300, "web A 192.0.2.2": 600})
	web, www := []any{"192.0.2.1", "192.0.2.2"}, map[string]any{"ttl": 300, "values": []any{"192.0.2.9"}}
	beside := refreshed(p, o)
	for name, records := range map[string]map[string]any{
		"value":  {"web A": entry(web...), "www A": map[string]any{"ttl": 300, "values": []any{"192.0.2.9", acctest.Unknown}}},
		"values": {"web A": entry(web...), "www A": map[string]any{"ttl": 300, "values": acctest.Unknown}},
		"ttl":    {"web A": map[string]any{"ttl": acctest.Unknown, "values": web}, "www A": www},
		"entry":  {"web A": acctest.Unknown, "www A": www},
	} {
		plan, diags := p.Walk().Plan(typeName, zoneOf(records), beside)
		if p.NoErrors(diags); acctest.Attributes(plan.State)["records"].IsFullyKnown() {
			t.Errorf("unknown %s: the plan is %s", name, plan.State)
		}
	}
	for _, config := range []map[string]any{{"domain": "example.com", "records": acctest.Unknown}, zoneOf(nil, "ignore", []any{acctest.Unknown})} {
		plan, diags := p.Walk().Plan(typeName, config, beside)
		acctest.Expect(t, diags, "WARNING", "can't name the DNS records that the zone removes")
		assert.Check(t, !acctest.Attributes(plan.State)["purged"].IsKnown(), "the plan is %s", plan.State)
	}
	// Without a token, a plan sends nothing.
	for _, config := range []map[string]any{zoneOf(nil), nil} {
		_, diags = s.ProtocolOfUnknownToken(t).Plan(typeName, config, beside)
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "www A 192.0.2.9")
	}
	remove(t, s, "web A 192.0.2.1")
	remove(t, s, "web A 192.0.2.2")
	// The apply knows the value, which may be invalid.
	plan, _ := p.Walk().Plan(typeName, unknown, o)
	_, diags = p.ApplyPlan(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("nonsense")}), o, p.With(typeName, plan, "records", zoneOf(map[string]any{"www A": entry("nonsense")})["records"]))
	acctest.Expect(t, diags, `ERROR at AttributeName("records").ElementKeyString("www A")`, "IPv4 address")
	expectExisting(t, s, contents{"www A 192.0.2.9": 300})
	known := zoneOf(map[string]any{"www A": entry("192.0.2.1")})
	plan, _ = p.Walk().Plan(typeName, known, o)
	_, diags = p.ApplyPlan(t.Context(), typeName, known, o, plan)
	p.NoErrors(diags)
	expectExisting(t, s, contents{"www A 192.0.2.1": 300})
}

// TestDomainOfAPlan plans the zones of a missing domain and of a domain that can't be read.
func TestDomainOfAPlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	plan, diags := p.Plan(typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1")}), nil)
	acctest.Expect(t, diags, "WARNING", "does not have the domain example.com")
	assert.Check(t, plan.Text("domain_name") == "example.com" && plan.Text("domain_id") == "(unknown)", "planned %s", plan.State)
	d := s.Domain(t, "example.com")
	o, diags := p.Walk().ApplyPlan(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1")}), nil, plan)
	p.NoErrors(diags)
	assert.Check(t, o.Text("domain_id") == d.ID && acctest.Attributes(o.State)["purged"].IsNull(), "created %s", o.State)
	unpaid := acctest.NewServer(t, acctest.Options{Registrar: apiserver.Registrar{PaymentNeeded: true}})
	unpaid.Domain(t, "example.com")
	_, diags = unpaid.Protocol(t, "").Apply(t.Context(), typeName, zoneOf(nil), nil)
	acctest.Expect(t, diags, "ERROR", "Pay for the domain example.com")
	s.Fault(t, fault.Rule{Operation: api.GetDomain.ID, Status: http.StatusForbidden})
	_, diags = p.Walk().Plan(typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1")}), nil)
	acctest.Expect(t, diags, "ERROR", "Can't look up the domain of the DNS zone of example.com", "403")
}

// TestOneResourceForEachRecord plans a zone beside a resource for a single record, in both
// orders.
func TestOneResourceForEachRecord(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	const single = "mailhost_dns_record"
	p := s.Protocol(t, "")
	record := func(name string) map[string]any {
		return map[string]any{"domain": d.ID, "name": name, "type": "A", "value": "192.0.2.1"}
	}
	www, diags := p.Apply(t.Context(), single, record("WWW.example.com."), nil)
	p.NoErrors(diags)
	whole, ignoring := zoneOf(map[string]any{"www A": entry("192.0.2.1")}), zoneOf(map[string]any{"web A": entry("192.0.2.1")}, "ignore", []string{"w?w A", "dev"})
	owner, diags := p.Apply(t.Context(), typeName, whole, nil)
	p.NoErrors(diags)
	type call func() []string
	plan := func(typeName string, config map[string]any, prior *acctest.Object) call {
		return func() (problems []string) {
			_, diags := p.Plan(typeName, config, prior)
			for _, d := range diags {
				if strings.Contains(d.Detail, "If this were applied, one of the two would change or delete") && (typeName == single || strings.Contains(d.Detail, "\n  - ")) {
					problems = append(problems, d.Summary)
				}
			}
			return problems
		}
	}
	for name, c := range map[string]struct {
		zone, record call
		atOdds       bool
	}{
		"both create":                 {plan(typeName, whole, nil), plan(single, record("new"), nil), true},
		"both keep":                   {plan(typeName, whole, owner), plan(single, record("www"), www), true},
		"the zone keeps, destroys":    {plan(typeName, whole, owner), plan(single, nil, www), true},
		"the zone removes the record": {plan(typeName, zoneOf(map[string]any{}), owner), plan(single, record("www"), www), true},
		"the zone is destroyed":       {plan(typeName, nil, owner), plan(single, record("www"), www), true},
		"both are destroyed":          {plan(typeName, nil, owner), plan(single, nil, www), false},
		"an ignored record":           {plan(typeName, ignoring, nil), plan(single, record("www"), www), false},
		"another type of that name":   {plan(typeName, ignoring, nil), plan(single, map[string]any{"domain": "example.com", "name": "www", "type": "TXT", "value": "x"}, nil), true},
	} {
		for _, order := range [][2]call{{c.zone, c.record}, {c.record, c.zone}} {
			p.Together()
			first := order[0]()
			assert.Check(t, len(first) == 0, "%s: the first plan has %q", name, first)
			second := order[1]()
			assert.Check(t, len(second) > 0 == c.atOdds, "%s: the second plan has %q", name, second)
		}
	}
}

// TestOneZoneForEachDomain checks that the name and the UUID of a domain mean the same zone, and
// that another domain replaces the zone.
func TestOneZoneForEachDomain(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	p := s.Protocol(t, "")
	byName := zoneOf(map[string]any{"www A": entry("192.0.2.1")})
	byID := maps.Clone(byName)
	byID["domain"] = strings.ToUpper(d.ID)
	_, diags := p.Together().Plan(typeName, byName, nil)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, byID, nil)
	acctest.Expect(t, diags, "ERROR", d.ID, "another resource of the configuration creates")
	o, diags := p.Apply(t.Context(), typeName, byID, nil)
	p.NoErrors(diags)
	byID["records"] = map[string]any{"www A": entry("192.0.2.1"), "www.example.com. A": entry("192.0.2.2")}
	_, diags = p.Walk().Plan(typeName, byID, o)
	acctest.Expect(t, diags, "ERROR", "the same as the key")
	plan, diags := p.Walk().Plan(typeName, byName, o)
	assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "by name in place of the UUID: %s\n%s", plan.State, acctest.Render(diags))

	// Another domain is taken over, and the old one loses the records.
	other := maps.Clone(byName)
	other["domain"] = "example.org"
	_, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.org", Name: "old", Type: "A", Value: "192.0.2.9"})
	assert.NilError(t, err)
	_, diags = p.Walk().PlanReplacement(typeName, other, o)
	acctest.Expect(t, diags, "The plan deletes 1 DNS record of example.com", "www A 192.0.2.1", "The plan removes 1 DNS record of example.org", "old A 192.0.2.9")
	plan, _ = p.Walk().Plan(typeName, other, o)
	assert.Check(t, len(plan.Replace) != 0, "another domain does not replace the zone")
}

// TestIgnore checks that records that newly match ignore stay, and that a plan names the records
// that no longer match.
func TestIgnore(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	records := map[string]any{"www A": entry("192.0.2.1")}
	o, diags := p.Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1"), "a.dev A": entry("192.0.2.2")}), nil)
	p.NoErrors(diags)
	exist(t, s, contents{"b.dev A 192.0.2.3": 300})
	o = refreshed(p, o)
	all := contents{"www A 192.0.2.1": 3600, "a.dev A 192.0.2.2": 3600, "b.dev A 192.0.2.3": 300}

	ignoring := zoneOf(records, "ignore", []string{"**.Dev a"})
	plan, diags := p.Walk().Plan(typeName, ignoring, o)
	acctest.Expect(t, diags, "leaves 2 DNS records of example.com to others", "a.dev A 192.0.2.2", "b.dev A 192.0.2.3")
	o, diags = p.Walk().ApplyPlan(t.Context(), typeName, ignoring, o, plan)
	p.NoErrors(diags)
	expectExisting(t, s, all)
	o = refreshed(p, o)
	plan, diags = p.Walk().Plan(typeName, ignoring, o)
	assert.Assert(t, len(diags) == 0 && plan.State.Equal(o.State), "the second plan is %s\n%s", plan.State, acctest.Render(diags))

	owning := zoneOf(records)
	plan, diags = p.Walk().Plan(typeName, owning, o)
	acctest.Expect(t, diags, "removes 2 DNS records of example.com", "a.dev A 192.0.2.2", "b.dev A 192.0.2.3")
	s.Fault(t, fault.Rule{Operation: api.DeleteDNSRecord.ID, Status: http.StatusForbidden})
	exist(t, s, contents{"c A 192.0.2.4": 300})
	failed, diags := p.Walk().ApplyPlan(t.Context(), typeName, owning, o, plan)
	s.Faults.Clear()
	acctest.Expect(t, diags, "ERROR", "a.dev A 192.0.2.2")
	assert.Check(t, failed.State.Equal(o.State), "the state is %s after a failure, it was %s", failed.State, o.State)
	o, diags = p.Walk().ApplyPlan(t.Context(), typeName, owning, o, plan)
	acctest.Expect(t, diags, "1 DNS record of example.com appeared after the plan", "c A 192.0.2.4")
	expectExisting(t, s, contents{"www A 192.0.2.1": 3600, "c A 192.0.2.4": 300})
	o = refreshed(p, o)
	_, diags = p.Walk().Plan(typeName, owning, o)
	acctest.Expect(t, diags, "removes 1 DNS record of example.com", "c A 192.0.2.4")
}

// TestDestroyLeavesTheRecordsOfOthers checks what a destroy deletes after a change by
// others, and after an import.
func TestDestroyLeavesTheRecordsOfOthers(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1"), "@ MX": entry("10 mx.example.net"), "@ TXT": entry(strings.Repeat("ä", 161))}), nil)
	p.NoErrors(diags)
	exist(t, s, contents{"other A 192.0.2.3": 300, "www A 192.0.2.4": 300})
	o = refreshed(p, refreshed(p, o))
	_, diags = p.Destroy(t.Context(), typeName, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "The plan deletes 3 DNS records", "@ MX 10 mx.example.net", "@ TXT "+strings.Repeat("ä", 154)+"…", "www A 192.0.2.1", "mail for the domain itself", "2 DNS records of example.com stay", "other A 192.0.2.3", "www A 192.0.2.4")
	expectExisting(t, s, contents{"other A 192.0.2.3": 300, "www A 192.0.2.4": 300})

	d := s.Domain(t, "example.org")
	o, diags = p.Import(typeName, "", map[string]any{"id": strings.ToUpper(d.ID)})
	p.NoErrors(diags)
	if o = refreshed(p, o); o.Text("domain") != "example.org" || p.IdentityOf(typeName, o)["id"] != d.ID {
		t.Errorf("imported %s", o.State)
	}
	o, diags = p.Import(typeName, "EXAMPLE.com.", nil)
	p.NoErrors(diags)
	o = refreshed(p, o)
	want := zoneOf(map[string]any{"other.example.com a": map[string]any{"ttl": 300, "values": []string{"192.0.2.3"}}, "WWW A": map[string]any{"ttl": 300, "values": []string{"192.0.2.4"}}})
	plan, diags := p.Walk().Plan(typeName, want, o)
	assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "the plan after an import is %s\n%s", plan.State, acctest.Render(diags))
	if _, diags = p.Destroy(t.Context(), typeName, o); len(existing(t, s)) > 0 {
		t.Errorf("the domain has %v\n%s", existing(t, s), acctest.Render(diags))
	}
}

// TestPublishedOperations uses an API that can only create records.
func TestPublishedOperations(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	d := s.Domain(t, "example.com")
	exist(t, s, contents{"www A 192.0.2.1": 3600, "old A 192.0.2.9": 300})
	p := s.Protocol(t, "")
	_, diags := p.Plan(typeName, map[string]any{"domain": acctest.Unknown, "records": map[string]any{}}, nil)
	assert.Check(t, len(diags) == 0, "a zone that removes nothing: %s", acctest.Render(diags))
	_, diags = p.Plan(typeName, zoneOf(company(1)), nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "The plan changes the MX of example.com: mail goes to in.mailhost.example instead of the hosts so far")
	first := zoneOf(map[string]any{"www A": entry("192.0.2.1", "192.0.2.2"), "dev A": entry("192.0.2.5")})
	plan, diags := p.Plan(typeName, first, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "can't see the records of others")
	o, diags := p.Walk().ApplyPlan(t.Context(), typeName, first, nil, plan)
	p.NoErrors(diags)
	if acctest.Expect(t, diags, "1 DNS record of example.com existed already", "www A 192.0.2.1"); len(diags) != 1 {
		t.Errorf("the apply says %s", acctest.Render(diags))
	}
	expectExisting(t, s, contents{"www A 192.0.2.1": 3600, "www A 192.0.2.2": 3600, "dev A 192.0.2.5": 3600, "old A 192.0.2.9": 300})
	o = refreshed(p, o)
	plan, diags = p.Walk().Plan(typeName, first, o)
	assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "the second plan is %s\n%s", plan.State, acctest.Render(diags))
	more := zoneOf(map[string]any{"www A": entry("192.0.2.1", "192.0.2.2"), "dev A": entry("192.0.2.5"), "old CNAME": entry("example.net")})
	plan, diags = p.Walk().Plan(typeName, more, o)
	assert.Check(t, len(diags) == 0, "the plan of one more record says %s", acctest.Render(diags))
	_, diags = p.Walk().ApplyPlan(t.Context(), typeName, more, o, plan)
	acctest.Expect(t, diags, "ERROR", "Can't create the record old CNAME example.net")
	assert.Check(t, len(diags) == 1, "nothing is removed, and the apply says %s", acctest.Render(diags))
	second := zoneOf(map[string]any{"www A": entry("192.0.2.3"), "web A": entry("192.0.2.4")}, "ignore", []string{"dev"})
	plan, diags = p.Walk().Plan(typeName, second, o)
	acctest.Expect(t, diags, "2 DNS records of example.com will still exist", "www A 192.0.2.1", "www A 192.0.2.2")
	o, diags = p.Walk().ApplyPlan(t.Context(), typeName, second, o, plan)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "2 DNS records of example.com will still exist")
	_, diags = p.Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": map[string]any{"ttl": 300, "values": []string{"192.0.2.3"}}, "web A": entry("192.0.2.4")}, "ignore", []string{"dev"}), o)
	acctest.Expect(t, diags, `ERROR at AttributeName("records").ElementKeyString("www A")`, "Can't change the ttl", "no operation that changes")
	imported, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	_, diags = p.Walk().Read(typeName, imported)
	acctest.Expect(t, diags, "ERROR", "no operation that lists DNS records")
	_, diags = p.Destroy(t.Context(), typeName, o)
	acctest.Expect(t, diags, "2 DNS records of example.com will still exist", d.ID, "web A 192.0.2.4", "2 DNS records of example.com will still exist", d.ID)
}

// TestSystemManagedRecords checks that a zone neither lists nor changes system-managed records, and
// can't configure one.
func TestSystemManagedRecords(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	var dkim string
	system := func() (all []string) {
		for r, err := range s.Client.ListDNSRecords(t.Context(), api.ListDNSRecordsRequest{Domain: "example.com"}) {
			assert.NilError(t, err)
			if r.Name == "mailhost._domainkey" {
				dkim = r.Value
			}
			if r.IsSystemManaged {
				all = append(all, fmt.Sprintf("%d %s %s %s", r.ID, r.Name, r.Type, r.Value))
			}
		}
		slices.Sort(all)
		return all
	}
	before := system()
	second := zoneOf(map[string]any{"mailhost._domainkey TXT": entry("v=DKIM1; p=abc"), "www A": entry("192.0.2.1")})
	_, diags := p.Plan(typeName, second, nil)
	acctest.Expect(t, diags, "two DKIM keys", "Choose another selector")
	empty := zoneOf(map[string]any{})
	o, diags := p.Walk().Apply(t.Context(), typeName, empty, nil)
	p.NoErrors(diags)
	if plan, diags := p.Walk().Plan(typeName, empty, refreshed(p, o)); len(diags) > 0 || !plan.State.Equal(o.State) {
		t.Errorf("the second plan is %s\n%s", plan.State, acctest.Render(diags))
	}
	_, diags = p.Apply(t.Context(), typeName, zoneOf(map[string]any{"mailhost._domainkey TXT": entry(dkim)}), o)
	acctest.Expect(t, diags, `ElementKeyString("mailhost._domainkey TXT").AttributeName("values").ElementKeyInt(0)`, "system-managed", "Remove it from records")
	_, diags = p.Apply(t.Context(), typeName, second, o)
	acctest.Expect(t, diags, "two DKIM keys", "Choose another selector")
	expectExisting(t, s, contents{})
	_, diags = p.Plan("mailhost_dns_record", map[string]any{"domain": "example.com", "name": "mailhost._domainkey", "type": "TXT", "value": "v=DKIM1; p=abc"}, nil)
	acctest.Expect(t, diags, "A second DKIM record at mailhost._domainkey of example.com", "Choose another selector")
	// The same apply just adopted the domain of this zone.
	domain := map[string]any{"name": "example.com", "on_existing": "adopt"}
	plan, diags := p.Together().Plan("mailhost_domain", domain, nil)
	p.NoErrors(diags)
	p.Together()
	adopted, diags := p.ApplyPlan(t.Context(), "mailhost_domain", domain, nil, plan)
	p.NoErrors(diags)
	second["domain"] = adopted.Text("id")
	_, diags = p.Plan(typeName, second, nil)
	acctest.Expect(t, diags, "two DKIM keys", "Choose another selector")
	own := zoneOf(map[string]any{"@ MX": entry("10 mx.example.net"), "_dmarc TXT": entry("v=DMARC1; p=none")})
	o, diags = p.Apply(t.Context(), typeName, own, o)
	p.NoErrors(diags)
	expectExisting(t, s, contents{"@ MX 10 mx.example.net": 3600, "_dmarc TXT v=DMARC1; p=none": 3600})
	_, diags = p.Destroy(t.Context(), typeName, o)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(system(), before), "the system-managed records")
	p.Together()
	_, diags = p.ApplyPlan(t.Context(), "mailhost_domain", domain, nil, plan)
	p.NoErrors(diags)
	exist(t, s, contents{"old A 192.0.2.9": 3600}) // no plan named this record
	empty["domain"] = adopted.Text("id")
	plan, _ = p.Plan(typeName, empty, nil)
	_, diags = p.ApplyPlan(t.Context(), typeName, empty, nil, plan)
	p.NoErrors(diags)
	expectExisting(t, s, contents{"old A 192.0.2.9": 3600})
}

// TestDomainIsGone checks that a zone disappears with its domain, and that an unreadable
// list drops nothing.
func TestDomainIsGone(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1")}), nil)
	p.NoErrors(diags)
	s.Fault(t, fault.Rule{Operation: api.ListDNSRecords.ID, Status: http.StatusForbidden})
	_, diags = p.Walk().Read(typeName, o)
	acctest.Expect(t, diags, "ERROR: Can't read the DNS zone of example.com", "403")
	_, diags = p.Walk().Plan(typeName, zoneOf(nil), nil)
	acctest.Expect(t, diags, "ERROR: Can't read the DNS records of example.com", "403")
	s.Faults.Clear()
	assert.NilError(t, s.Client.Domains.Delete(t.Context(), d.ID))
	gone := refreshed(p, o)
	assert.Check(t, gone.Gone(), "the state holds %s", gone.State)
	_, diags = p.Walk().Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1")}), nil)
	acctest.Expect(t, diags, "ERROR: Can't look up the domain of the ", "domain = mailhost_domain.main.name")
}

// TestSpellingOfTheAPI checks that an API may return records in another spelling than the request.
func TestSpellingOfTheAPI(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acctest.Rewrite(w, r, next, strings.NewReplacer(`"www"`, `"WWW.Example.com."`, `"mx.example.net"`, `"MX.example.net."`).Replace)
	}))
	config := zoneOf(map[string]any{"www A": entry("192.0.2.1"), "www MX": entry("10 mx.example.net")})
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	plan, diags := p.Walk().Plan(typeName, config, refreshed(p, o))
	assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "the second plan is %s\n%s", plan.State, acctest.Render(diags))
	// A refresh keeps the spelling and the order of the configuration.
	o, diags = p.Apply(t.Context(), typeName, zoneOf(map[string]any{"Web.example.com. a": entry("192.0.2.2", "192.0.2.1")}), o)
	p.NoErrors(diags)
	read := refreshed(p, o)
	assert.Check(t, read.State.Equal(o.State), "a refresh leaves %s, after %s", read.State, o.State)
	// The plan of another change keeps them too.
	plans := [2]*acctest.Object{}
	for i, values := range [][]any{{"192.0.2.2", "192.0.2.1"}, {"192.0.2.1", "192.0.2.2"}} {
		plans[i], _ = p.Walk().Plan(typeName, zoneOf(map[string]any{"Web.example.com. a": entry(values...), "www A": entry("192.0.2.1")}), o)
	}
	assert.Check(t, plans[0].State.Equal(plans[1].State), "the plans are %s and %s", plans[0].State, plans[1].State)
}

// TestList checks that each domain is listed as a zone, and that the generated configuration plans nothing.
func TestList(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		s.Domain(t, "other.com")
		p := s.Protocol(t, "")
		_, diags := p.Apply(t.Context(), typeName, zoneOf(map[string]any{"@ MX": entry("10 mx.example.net."), "www A": entry("192.0.2.1", "192.0.2.2")}), nil)
		p.NoErrors(diags)
		if s.PublishedOnly {
			_, diags := p.List(typeName, nil, 10)
			acctest.Expect(t, diags, "ERROR: Can't list the DNS zones", "no operation that lists DNS records")
			return
		}
		p.ExpectListed(t, typeName, nil, "example.com", "other.com")
		s.Fault(t, fault.Rule{Operation: api.ListDNSRecords.ID, Status: http.StatusForbidden})
		_, diags = p.List(typeName, nil, 10)
		acctest.Expect(t, diags, "ERROR", "403")
	})
}
