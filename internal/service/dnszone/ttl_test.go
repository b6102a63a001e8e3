package dnszone_test

import (
	"maps"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// TestKeptTTL checks that an entry without a TTL keeps the TTLs of its key: in the plan that takes a domain over,
// after an import, and if a ttl is removed. A new key gets the default.
func TestKeptTTL(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	mixed := contents{"two A 192.0.2.1": 300, "two A 192.0.2.2": 600}
	exist(t, s, contents{"www A 192.0.2.1": 300, "web A 192.0.2.1": 3600})
	exist(t, s, mixed)
	ttl := func(o *acctest.Object, key string) string {
		return core.Shown(acctest.Attributes(acctest.Attributes(acctest.Attributes(o.State)["records"])[key])["ttl"])
	}
	records := map[string]any{"www A": entry("192.0.2.1"), "WEB a": entry("192.0.2.1"), "two A": entry("192.0.2.2", "192.0.2.1"), "new A": entry("192.0.2.1")}
	want := contents{"www A 192.0.2.1": 300, "web A 192.0.2.1": 3600, "new A 192.0.2.1": 3600}
	maps.Copy(want, mixed)
	imported, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	imported = refreshed(p, imported)
	var created *acctest.Object
	for _, domain := range []any{acctest.Unknown, d.ID, "example.com"} {
		config := zoneOf(records, "domain", domain)
		plan, diags := p.Walk().Plan(typeName, config, nil)
		p.NoErrors(diags)
		assert.Check(t, ttl(plan, "www A") == "unknown" && (ttl(plan, "new A") == "3600") == (domain != acctest.Unknown), "planned %s", plan.State)
		config["domain"] = d.ID
		created, diags = p.Walk().ApplyPlan(t.Context(), typeName, config, nil, p.With(typeName, plan, "domain", d.ID))
		p.NoErrors(diags)
		expectExisting(t, s, want)
		assert.Check(t, ttl(created, "www A") == "300" && ttl(created, "two A") == "null" && ttl(created, "new A") == "3600", "%s", created.State)
		again, diags := p.Plan(typeName, config, refreshed(p, created))
		assert.Check(t, len(diags) == 0 && again.State.Equal(created.State), "the next plan is %s\n%s", again.State, acctest.Render(diags))
		remove(t, s, "new A 192.0.2.1")
	}
	for name, o := range map[string]*acctest.Object{"created": refreshed(p, created), "imported": imported} {
		records := zoneOf(map[string]any{"www A": entry("192.0.2.7"), "web A": map[string]any{"ttl": 600, "values": []string{"192.0.2.1"}}, "two A": entry("192.0.2.2", "192.0.2.3", "192.0.2.4")})
		plan, diags := p.Walk().Plan(typeName, records, o)
		p.NoErrors(diags)
		assert.Check(t, ttl(plan, "www A") == "300" && ttl(plan, "two A") == "null" && ttl(plan, "web A") == "600", "%s: planned %s", name, plan.State)
	}
	plan, diags := p.Walk().Plan(typeName, zoneOf(map[string]any{"two A": entry("192.0.2.2", "192.0.2.3", "192.0.2.4")}), imported)
	p.NoErrors(diags)
	_, diags = p.ApplyPlan(t.Context(), typeName, zoneOf(map[string]any{"two A": entry("192.0.2.2", "192.0.2.3", "192.0.2.4")}), imported, plan)
	p.NoErrors(diags)
	// The changed record keeps its TTL, and the new one gets the TTL of its key.
	expectExisting(t, s, contents{"two A 192.0.2.2": 600, "two A 192.0.2.3": 300, "two A 192.0.2.4": 300})
}

// TestImportOfDifferentTTLs checks that the plan of an import shows a TTL that differs from the
// configuration, whichever of a key's records it belongs to.
func TestImportOfDifferentTTLs(t *testing.T) {
	t.Parallel()
	for _, ttl := range []int{600, 3600} {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		exist(t, s, contents{"www A 192.0.2.1": 3600, "www A 192.0.2.2": 600})
		p := s.Protocol(t, "")
		o, diags := p.Import(typeName, "example.com", nil)
		p.NoErrors(diags)
		o = refreshed(p, o)
		config := zoneOf(map[string]any{"www A": map[string]any{"values": []string{"192.0.2.1", "192.0.2.2"}, "ttl": ttl}})
		plan, diags := p.Plan(typeName, config, o)
		p.NoErrors(diags)
		assert.Check(t, !plan.State.Equal(o.State), "%d: the plan hides the change: %s", ttl, plan.State)
		before := len(s.Sent())
		o, diags = p.ApplyPlan(t.Context(), typeName, config, o, plan)
		p.NoErrors(diags)
		expectExisting(t, s, contents{"www A 192.0.2.1": ttl, "www A 192.0.2.2": ttl})
		assert.Check(t, is.DeepEqual(s.Sent()[before:], []string{"update-dns-record"}), "%d: sent", ttl)
		whole := s.Journal.Entries(journal.Filter{Operation: api.UpdateDNSRecord.ID, Body: "192.0.2"})
		assert.Check(t, len(whole) == 0, "%d: an update sends the value, which does not change: %v", ttl, whole)
		plan, _ = p.Walk().Plan(typeName, config, refreshed(p, o))
		assert.Check(t, plan.State.Equal(o.State), "the next plan is %s", plan.State)
	}
}
