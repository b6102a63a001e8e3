package dnsrecord_test

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

const typeName = "mailhost_dns_record"

// number parses an optional number.
func number(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// create creates a record outside Terraform.
func create(t *testing.T, s *acctest.Server, domain, name, recordType, value, priority string) *api.DNSRecord {
	t.Helper()
	r, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: domain, Name: name, Type: recordType, Value: value, Prio: number(priority)})
	assert.NilError(t, err)
	return r
}

func www(value any) map[string]any {
	return map[string]any{"domain": "example.com", "name": "www", "type": "A", "value": value}
}

// TestLostResponseAdoptsNoSystemManagedRecord checks that a lookup after a lost response does
// not match a system-managed record.
func TestLostResponseAdoptsNoSystemManagedRecord(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Fault(t, fault.Rule{Operation: api.CreateDNSRecord.ID, Status: http.StatusBadGateway, Nth: 1})
	p := s.Protocol(t, "")
	made, diags := p.Apply(t.Context(), typeName, map[string]any{"domain": "example.com", "name": "_dmarc", "type": "TXT", "value": "v=DMARC1; p=none"}, nil)
	p.NoErrors(diags)
	assert.Assert(t, !made.Gone() && made.Text("id") != "", "the state holds %s", made.State)
	// The customer's record replaces the identical system-managed one.
	made, diags = p.Read(typeName, made)
	p.NoErrors(diags)
	assert.Check(t, is.Contains(made.State.String(), `"is_system_managed":tftypes.Bool<"false">`), "the state holds")
}

// TestDomainOutOfSight uses a credential that may manage records but not view domains.
func TestDomainOutOfSight(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := (&acctest.Server{Server: s.Server, AccountID: s.AccountID, Token: s.LimitedToken(t, vocab.CapDNSRecordView, vocab.CapDNSRecordCreate)}).Protocol(t, "")
	config := map[string]any{"domain": "Example.com", "name": "www.example.com", "type": "A", "value": "192.0.2.1"}
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	assert.Check(t, made.Text("domain_name") == "example.com" && made.Text("fqdn") == "www.example.com" && made.Text("domain_id") == "", "created %s", made.State)
	read, diags := p.Read(typeName, made)
	p.NoErrors(diags)
	plan, _ := p.Plan(typeName, config, read)
	assert.Check(t, plan.State.Equal(made.State), "the second plan is %s", plan.State)
	config["domain"] = d.ID
	_, diags = p.Apply(t.Context(), typeName, config, nil)
	acctest.Expect(t, diags, "Can't look up the domain", "domain.view")
	_, diags = p.ReadData("mailhost_dns_records", map[string]any{"domain": d.ID})
	acctest.Expect(t, diags, "ERROR: Can't list the DNS records", "domain.view")
}

// TestImportSearchesEachDomainOnce checks that imports of several records by id share one
// search of the domains.
func TestImportSearchesEachDomainOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var lists atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/dns-records") && r.FormValue("domain") != "" {
			lists.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	var all []api.DNSRecord
	want := map[int64]string{}
	add := func(domain, name string) {
		r, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: domain, Name: name, Type: "A", Value: "192.0.2.1"})
		assert.NilError(t, err)
		all, want[r.ID] = append(all, *r), domain
	}
	imports := func(r api.DNSRecord) {
		o, diags := p.Import(typeName, strconv.FormatInt(r.ID, 10), nil)
		p.NoErrors(diags)
		assert.Check(t, is.Equal(o.Text("domain_name"), want[r.ID]), "record %d is in", r.ID)
	}
	domains := []string{"a.com", "b.com", "c.com"}
	for _, domain := range domains {
		s.Domain(t, domain)
		for _, name := range []string{"www", "ftp", "news"} {
			add(domain, name)
		}
	}
	var wg sync.WaitGroup
	for _, r := range all {
		wg.Go(func() { imports(r) })
	}
	wg.Wait()
	n := int(lists.Load())
	assert.Check(t, n == len(domains), "%d lists of records for %d domains", n, len(domains))
	s.Domain(t, "d.com")
	add("b.com", "late")
	add("d.com", "www")
	imports(all[len(all)-2])
	imports(all[len(all)-1])
}

// TestOtherConflictsAreNoAdoption checks that a conflict without an identical record, or
// without its id, adopts nothing.
func TestOtherConflictsAreNoAdoption(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Domain(t, "example.com")
	var msg string
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/dns-records") {
			acctest.Refuse(w, http.StatusConflict, "body", msg)
			return
		}
		next.ServeHTTP(w, r)
	}))
	for text, adopts := range map[string]bool{
		"an identical A record at www exists already with the id 17":               true,
		"Record already exists (ID: 17)":                                           true,
		"duplicate record, id=17":                                                  true,
		"an identical A record at www exists already":                              false,
		"an identical record exists":                                               false,
		"the name www of example.com has the CNAME record 17; a CNAME excludes it": false,
		"the records with the id 17 and with the id 18 are identical":              false,
		"the domain with the id 17 is locked":                                      false,
		"an identical record has the id 0":                                         false,
		"already exists: request id 5b2e8c1a":                                      false,
	} {
		msg = text
		config := www("192.0.2.1")
		config["on_existing"] = "adopt"
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		got := !o.Gone() && o.Text("id") == "17"
		assert.Check(t, got == adopts && adopts != (acctest.Errors(diags) > 0), "%q: adopts %t, %s", text, got, acctest.Render(diags))
		if !adopts {
			acctest.Expect(t, diags, "ERROR", "can neither list nor import", "control panel")
		}
	}
}

// TestOneResourceForEachRecord checks that a plan can't create the same record twice.
func TestOneResourceForEachRecord(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "").Together()
	for _, priority := range []any{10, 30, acctest.Unknown, acctest.Unknown} {
		_, diags := p.Plan(typeName, map[string]any{"domain": "example.com", "name": "www", "type": "MX", "value": "mail.example.net", "priority": priority}, nil)
		p.NoErrors(diags)
	}
	_, diags := p.Plan(typeName, map[string]any{"domain": "Example.com", "name": "WWW", "type": "MX", "value": "mail.example.net.", "priority": 10}, nil)
	acctest.Expect(t, diags, "ERROR: Two resources have the MX record www of example.com")
}

// TestReplacedBesideAnother replaces a record in an apply that created another record of the domain
// before: the list that both share still contains the deleted record.
func TestReplacedBesideAnother(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	old, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
	p.NoErrors(diags)
	other := map[string]any{"domain": "example.com", "name": "other", "type": "A", "value": "192.0.2.9"}
	p.Together()
	plan, diags := p.Plan(typeName, other, nil)
	p.NoErrors(diags)
	_, diags = p.ApplyPlan(t.Context(), typeName, other, nil, plan)
	p.NoErrors(diags)
	_, diags = p.ApplyPlan(t.Context(), typeName, nil, old, &acctest.Object{State: p.Null(typeName), Private: old.Private, Identity: old.Identity})
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, www("192.0.2.1"), nil)
	p.NoErrors(diags)
}

// TestKeptTTL checks that a record without a ttl in the configuration keeps its TTL if it is adopted or imported,
// or if the ttl is removed. A new record has the default, which the plan knows.
func TestKeptTTL(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	found, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "www", Type: "A", Value: "192.0.2.1", TTL: new(int64(300))})
	assert.NilError(t, err)
	adopting := func(changes map[string]any) map[string]any {
		config := www("192.0.2.1")
		config["on_existing"] = "adopt"
		maps.Copy(config, changes)
		return config
	}
	ttl := func(o *acctest.Object) string { return core.Shown(acctest.Attributes(o.State)["ttl"]) }

	plan, diags := p.Plan(typeName, adopting(nil), nil)
	p.NoErrors(diags)
	assert.Check(t, ttl(plan) == "300" && !strings.Contains(acctest.Render(diags), "The adoption changes"), "planned %s\n%s", plan.State, acctest.Render(diags))
	adopted, diags := p.ApplyPlan(t.Context(), typeName, adopting(nil), nil, plan)
	p.NoErrors(diags)
	byID, diags := p.Walk().Plan(typeName, adopting(map[string]any{"domain": acctest.Unknown}), nil)
	p.NoErrors(diags)
	fromID, diags := p.Walk().ApplyPlan(t.Context(), typeName, adopting(map[string]any{"domain": d.ID}), nil, p.With(typeName, byID, "domain", d.ID))
	p.NoErrors(diags)
	imported, diags := p.Import(typeName, strconv.FormatInt(found.ID, 10), nil)
	p.NoErrors(diags)
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	configured, diags := p.Apply(t.Context(), typeName, adopting(map[string]any{"ttl": 300}), nil)
	p.NoErrors(diags)
	for name, o := range map[string]*acctest.Object{"adopted": adopted, "adopted by id": fromID, "imported": imported, "configured": configured} {
		plan, diags := p.Walk().Plan(typeName, www("192.0.2.1"), o)
		p.NoErrors(diags)
		assert.Check(t, ttl(o) == "300" && ttl(plan) == "300", "%s: planned %s", name, plan.State)
	}
	// The same apply may delete the record of the other resource before the create.
	p.Together()
	_, diags = p.Read(typeName, adopted)
	p.NoErrors(diags)
	second, diags := p.Plan(typeName, adopting(nil), nil)
	p.NoErrors(diags)
	assert.Check(t, ttl(second) == "unknown", "planned %s", second.State)
	_, diags = p.Walk().Apply(t.Context(), typeName, nil, adopted)
	p.NoErrors(diags)
	made, diags := p.Walk().ApplyPlan(t.Context(), typeName, adopting(nil), nil, second)
	p.NoErrors(diags)
	assert.Check(t, ttl(made) == "3600", "%s", made.State)
	for _, config := range []map[string]any{www("192.0.2.7"), adopting(map[string]any{"value": "192.0.2.7"})} {
		plan, diags = p.Walk().Plan(typeName, config, nil)
		p.NoErrors(diags)
		assert.Check(t, ttl(plan) == "3600", "planned %s", plan.State)
	}
}
