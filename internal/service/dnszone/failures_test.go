package dnszone_test

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// TestFailures lets each kind of request of a create, an update and a destroy fail. The state
// equals the domain's records, a record is only removed after everything else succeeded, a
// connection failure ends the apply, and the next apply does the rest.
func TestFailures(t *testing.T) {
	t.Parallel()
	before := contents{"www A 192.0.2.1": 3600, "old A 192.0.2.1": 3600, "@ MX 10 mx.example.net": 3600}
	own := zoneOf(map[string]any{"www A": entry("192.0.2.1"), "old A": entry("192.0.2.1"), "@ MX": entry("10 mx.example.net")})
	want := zoneOf(map[string]any{"www CNAME": entry("example.net"), "new A": entry("192.0.2.2"), "web A": entry("192.0.2.2"), "@ MX": entry("5 mx.example.net")})
	wanted := contents{"www CNAME example.net": 3600, "new A 192.0.2.2": 3600, "web A 192.0.2.2": 3600, "@ MX 5 mx.example.net": 3600}
	// Each request changes one name, in the order of the names: first @, then new, web and www.
	type outcome struct {
		after contents
		text  string
	}
	unread := outcome{before, "Can't read the "}
	change := map[string]outcome{
		"list-dns-records":  unread,
		"create-dns-record": {contents{"@ MX 5 mx.example.net": 3600, "old A 192.0.2.1": 3600}, "www A of example.com has lost its record"},
		"update-dns-record": {contents{"www CNAME example.net": 3600, "new A 192.0.2.2": 3600, "web A 192.0.2.2": 3600, "@ MX 10 mx.example.net": 3600, "old A 192.0.2.1": 3600}, `at AttributeName("records").ElementKeyString("@ MX").AttributeName("values").ElementKeyInt(0): Can't change the record @ MX 10 mx.example.net of example.com to 5 mx.example.net`},
		"delete-dns-record": {contents{"www A 192.0.2.1": 3600, "new A 192.0.2.2": 3600, "web A 192.0.2.2": 3600, "@ MX 5 mx.example.net": 3600, "old A 192.0.2.1": 3600}, "Can't delete the record www A 192.0.2.1 of example.com"},
	}
	change["create-dns-record CNAME"] = outcome{change["delete-dns-record"].after, "The record www A 192.0.2.1 of example.com was put back"}
	stopped := map[string]outcome{
		"list-dns-records":  unread,
		"create-dns-record": {contents{"@ MX 5 mx.example.net": 3600, "www A 192.0.2.1": 3600, "old A 192.0.2.1": 3600}, "2 more changes were not attempted"},
		"update-dns-record": {before, "3 more changes were not attempted"},
		"delete-dns-record": {change["delete-dns-record"].after, change["delete-dns-record"].text},
	}
	undeleted := outcome{before, "Can't delete the DNS zone of example.com"}
	destroys := map[string]outcome{"list-dns-records": undeleted, "delete-dns-record": {contents{"@ MX 10 mx.example.net": 3600}, "Can't delete the record @ MX 10 mx.example.net"}}
	stops := map[string]outcome{"list-dns-records": undeleted, "delete-dns-record": {before, "2 more changes were not attempted"}}
	for isStop, rule := range map[bool]fault.Rule{false: {Status: 500}, true: {Drop: fault.Before}} {
		for name, step := range map[string]struct {
			config, prior map[string]any
			outcomes      map[string]outcome
		}{
			"create":  {want, nil, map[bool]map[string]outcome{false: change, true: stopped}[isStop]},
			"update":  {want, own, map[bool]map[string]outcome{false: change, true: stopped}[isStop]},
			"destroy": {nil, own, map[bool]map[string]outcome{false: destroys, true: stops}[isStop]},
		} {
			for op, expected := range step.outcomes {
				t.Run(fmt.Sprint(name, " ", op, " stop=", isStop), func(t *testing.T) {
					t.Parallel()
					s := acctest.NewServer(t, acctest.Options{})
					s.Domain(t, "example.com")
					p := s.ProtocolOf(t, "", provider.NewReplaced("test", provider.Replacements{Hooks: client.Hooks{RetryMax: -1, Parallel: 1}})())
					var o *acctest.Object
					if step.prior == nil {
						exist(t, s, before)
					} else {
						var diags []*tfprotov6.Diagnostic
						o, diags = p.Apply(t.Context(), typeName, step.prior, nil)
						p.NoErrors(diags)
					}
					plan, diags := p.Walk().Plan(typeName, step.config, o)
					if p.NoErrors(diags); name == "update" {
						acctest.Expect(t, diags, "The plan removes 2 DNS records", "Managed by this zone so far:\n  - old A 192.0.2.1\n  - www A 192.0.2.1\n\n")
						assert.Check(t, len(diags) == 1, "the plan says %s", acctest.Render(diags))
					}
					rule := rule
					var recordType string
					if rule.Operation, recordType, _ = strings.Cut(op, " "); recordType != "" {
						rule.Body = map[string]any{"type": recordType}
					}
					rule.Times = map[bool]int{true: 1}[step.config == nil] // a destroy goes on
					s.Fault(t, rule)
					failed, diags := p.Walk().ApplyPlan(t.Context(), typeName, step.config, o, plan)
					s.Faults.Clear()
					acctest.Expect(t, diags, "ERROR", expected.text)
					expectExisting(t, s, expected.after)
					removes := strings.Contains(acctest.Render(diags), "Nothing else was removed from example.com")
					isList := op == "list-dns-records"
					assert.Check(t, removes != (isList || name == "destroy") && !(isStop && strings.Contains(acctest.Render(diags), "ERROR at ")), "the apply says %s", acctest.Render(diags))
					if o != nil {
						o = failed
						read := refreshed(p, o)
						assert.Check(t, read.State.Equal(o.State), "the state after the failure is %s, a refresh finds %s", o.State, read.State)
					} else if !failed.Gone() {
						t.Errorf("the failed create leaves %s", failed.State)
					}
					if step.config == nil {
						_, diags = p.Destroy(t.Context(), typeName, o)
						acctest.Expect(t, diags, "The plan deletes ", "The plan changes the MX of example.com")
						assert.Check(t, len(diags) == 2 && acctest.Errors(diags) == 0, acctest.Render(diags))
						expectExisting(t, s, contents{})
						return
					}
					o, diags = p.Apply(t.Context(), typeName, step.config, o)
					assert.Check(t, len(diags) == 0 || name == "create" && acctest.Errors(diags) == 0, acctest.Render(diags))
					expectExisting(t, s, wanted)
					plan, diags = p.Walk().Plan(typeName, step.config, refreshed(p, o))
					assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "the next plan is %s\n%s", plan.State, acctest.Render(diags))
				})
			}
		}
	}
}

// TestChangedMeanwhile lets others make a change just before the apply makes the same change: the
// domain ends as configured.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method string
		ttl    int // of the record that others create
	}{{http.MethodPatch, 0}, {http.MethodDelete, 0}, {http.MethodPost, 600}, {http.MethodPost, 3600}} {
		s := acctest.NewServer(t, acctest.Options{})
		s.Domain(t, "example.com")
		var isArmed atomic.Bool
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch {
			case r.Method != c.method || !isArmed.Swap(false):
			case c.method == http.MethodPost:
				exist(t, s, contents{"@ MX 20 mx.example.net": c.ttl})
			default:
				assert.NilError(t, s.Client.DNSRecords.Delete(t.Context(), path.Base(r.URL.Path)))
			}
			next.ServeHTTP(w, r)
		}))
		o, diags := p.Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.1"), "old A": entry("192.0.2.1"), "@ MX": entry("10 mx.example.net")}), nil)
		p.NoErrors(diags)
		isArmed.Store(true)
		_, diags = p.Apply(t.Context(), typeName, zoneOf(map[string]any{"www A": entry("192.0.2.2"), "@ MX": entry("10 mx.example.net", "20 mx.example.net")}), o)
		p.NoErrors(diags)
		expectExisting(t, s, contents{"www A 192.0.2.2": 3600, "@ MX 10 mx.example.net": 3600, "@ MX 20 mx.example.net": 3600})
	}
}
