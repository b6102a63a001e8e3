package provider_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// TestTerraformTest runs the steps of a test file with one configured provider: a plan, an
// apply, another plan and the destroy.
func TestTerraformTest(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for typeName, k := range kinds(t, s) {
		p := s.Protocol(t, "").TestFile()
		for range 2 {
			for _, c := range []values{k.config, k.again} {
				_, diags := p.Plan(typeName, c, nil)
				p.NoErrors(diags)
			}
			o, diags := p.Apply(t.Context(), typeName, k.config, nil)
			p.NoErrors(diags)
			for _, c := range []values{k.config, k.again} {
				_, diags = p.Plan(typeName, c, o)
				for _, d := range diags {
					assert.Check(t, !strings.HasPrefix(d.Summary, "Two resources") && !strings.HasSuffix(d.Summary, "exists already"), "%s: %s", typeName, d.Summary)
				}
				p.NoErrors(diags)
			}
			o, diags = p.Read(typeName, o)
			p.NoErrors(diags)
			_, diags = p.Apply(t.Context(), typeName, nil, o)
			p.NoErrors(diags)
		}
	}
}

// TestOneObjectForEachResource goes through the plans that would create, destroy or replace an
// object that another resource has, or the resource itself, in every order of core's calls. Each
// order has one error, with the same summary.
func TestOneObjectForEachResource(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for typeName, k := range kinds(t, s) {
		p := s.Protocol(t, "")
		o, diags := p.Apply(t.Context(), typeName, k.config, nil)
		p.NoErrors(diags)
		adopting := maps.Clone(k.config)
		if hasAttribute(t, typeName, "on_existing") {
			adopting["on_existing"] = "adopt"
		}
		type call = func(config values) []*tfprotov6.Diagnostic
		var isRefused bool // the refresh, so that core makes no plan for the object
		read := func(values) []*tfprotov6.Diagnostic {
			_, d := p.Read(typeName, o)
			isRefused = acctest.Errors(d) > 0
			return d
		}
		create := func(config values) []*tfprotov6.Diagnostic { _, d := p.Plan(typeName, config, nil); return d }
		plan := func(config values) (diags []*tfprotov6.Diagnostic) {
			if !isRefused {
				_, diags = p.Plan(typeName, config, o)
			}
			return diags
		}
		keep := func(values) []*tfprotov6.Diagnostic { return plan(k.config) }
		destroy := func(values) []*tfprotov6.Diagnostic { return plan(nil) }
		replace := func(config values) []*tfprotov6.Diagnostic {
			_, d := p.PlanReplacement(typeName, config, o)
			return d
		}
		const exists, two = " exists already\n", "Two resources have the "
		for name, c := range map[string]struct {
			calls []call
			// isForValuables means that only an object with mail or money is protected.
			isForValuables bool
			summary        string
		}{
			"-replace":                         {[]call{replace}, true, exists},
			"-replace after a refresh":         {[]call{read, replace}, true, exists},
			"tainted":                          {[]call{read, create}, true, exists},
			"renamed, the orphan first":        {[]call{read, destroy, create}, false, exists},
			"renamed, the orphan last":         {[]call{read, create, destroy}, false, exists},
			"renamed, the orphan unseen":       {[]call{create, read, destroy}, false, exists},
			"renamed, no refresh":              {[]call{destroy, create}, false, exists},
			"renamed, no refresh, the create":  {[]call{create, destroy}, false, exists},
			"a second address, the create":     {[]call{keep, create}, true, exists},
			"a second address, the kept":       {[]call{create, keep}, true, exists},
			"a second address, the refreshed":  {[]call{create, read, keep}, true, exists},
			"a second address, read before":    {[]call{read, create, keep}, true, exists},
			"at two addresses, one is kept":    {[]call{keep, destroy}, false, two},
			"at two addresses, one is removed": {[]call{destroy, keep}, false, two},
			"at two addresses, as an import":   {[]call{read, keep, read, keep}, false, two},
		} {
			for what, config := range map[string]values{"plain": k.config, "adopting": adopting} {
				p.Together()
				isRefused = false
				var all []*tfprotov6.Diagnostic
				for _, call := range c.calls {
					all = append(all, call(config)...)
				}
				switch refused := acctest.Errors(all) > 0; {
				case c.isForValuables && !k.isValuable, strings.HasPrefix(name, "renamed") && !hasKey(typeName) && !k.isValuable:
					// That a record or a rule exists is another error, for the create before its refresh.
					if text := acctest.Render(all); strings.Contains(text, "Terraform's state has it, ") || strings.Contains(text, two) || strings.HasPrefix(name, "-replace") && refused {
						t.Errorf("%s, %s, %s: %s", typeName, name, what, text)
					}
				case !refused:
					t.Errorf("%s, %s, %s: nothing is refused", typeName, name, what)
				default:
					t.Log(typeName, name, what)
					acctest.Expect(t, all, "ERROR", c.summary, "terraform untaint", "moved block", service.ExistingGuide)
					assert.Check(t, acctest.Errors(all) == 1, "there is more than one error: %s", acctest.Render(all))
				}
			}
		}
		// What a correct user does.
		for name, calls := range map[string][]call{
			"kept": {read, keep}, "destroyed": {read, destroy}, "kept without a refresh": {keep},
		} {
			p.Together()
			for _, call := range calls {
				diags := call(nil)
				assert.Check(t, acctest.Errors(diags) <= 0, "%s, %s: %s", typeName, name, acctest.Render(diags))
			}
		}
		gone, _ := p.Walk().Read(typeName, o)
		assert.Check(t, !gone.Gone(), "%s was deleted", typeName)
	}
}

// TestCreatedTwice plans the creates of one key in two resources.
func TestCreatedTwice(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	type config = map[string]any
	set := func(key string) config {
		return config{"domain": "EXAMPLE.com", "mailboxes": config{key: config{"first_name": "Jane", "last_name": "Doe"}}}
	}
	record := config{"domain": d.ID, "name": "www", "type": "A", "value": "192.0.2.1"}
	sameRecord := config{"domain": strings.ToUpper(d.ID), "name": "WWW", "type": "A", "value": "192.0.2.1"}
	unnamed := config{"domain": "example.com", "name": acctest.Unknown, "type": "A", "value": "192.0.2.1"}
	untyped := config{"domain": "example.com", "name": "web", "type": acctest.Unknown, "value": "192.0.2.1"}
	rule := config{"domain": "example.com", "target_email": "Jane@example.org"}
	zone := config{"domain": "example.com", "records": config{"www A": config{"values": []string{"192.0.2.9"}}}}
	type creates struct {
		types   [2]string
		configs [2]config
		refused bool
	}
	cases := []creates{
		{[2]string{"mailhost_mailbox", "mailhost_mailbox_set"}, [2]config{kinds(t, s)["mailhost_mailbox"].config, set("Jane")}, true},
		{[2]string{"mailhost_mailbox_set", "mailhost_mailbox_set"}, [2]config{set("jane"), set("JANE")}, true},
		{[2]string{"mailhost_mailbox_set", "mailhost_mailbox_set"}, [2]config{set("jane"), set("joan")}, false},
		{[2]string{"mailhost_dns_record", "mailhost_dns_record"}, [2]config{record, sameRecord}, true},
		{[2]string{"mailhost_dns_record", "mailhost_dns_record"}, [2]config{unnamed, unnamed}, false},
		{[2]string{"mailhost_dns_record", "mailhost_dns_record"}, [2]config{untyped, untyped}, false},
		{[2]string{"mailhost_dns_record", "mailhost_dns_zone"}, [2]config{unnamed, zone}, false},
		{[2]string{"mailhost_dns_record", "mailhost_dns_zone"}, [2]config{{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"}, zone}, true},
		{[2]string{"mailhost_forwarding", "mailhost_forwarding"}, [2]config{rule, {"target_email": "jane@example.org"}}, false},
		{[2]string{"mailhost_dns_zone", "mailhost_dns_zone"}, [2]config{zone, {"domain": d.ID, "records": config{}}}, true},
	}
	for typeName, k := range kinds(t, s) {
		cases = append(cases, creates{[2]string{typeName, typeName}, [2]config{k.config, k.again}, hasKey(typeName)})
	}
	for _, c := range cases {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			p := s.Protocol(t, "").Together()
			var all []*tfprotov6.Diagnostic
			for _, i := range order {
				_, diags := p.Plan(c.types[i], c.configs[i], nil)
				all = append(all, diags...)
			}
			got := acctest.Errors(all) > 0
			assert.Check(t, got == c.refused, "%v %v: refused %t\n%s", c.types, c.configs, got, acctest.Render(all))
		}
	}
}

// TestOnExisting creates what exists: refused by default, in the plan or in the apply if it was
// created after the plan, with an import block; adopted if the configuration says so, with an empty
// plan after it.
func TestOnExisting(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		for typeName, k := range kinds(t, s) {
			if k.conflict == "" {
				continue
			}
			p := s.Protocol(t, "")
			early, diags := p.Plan(typeName, k.config, nil)
			p.NoErrors(diags)
			o, diags := s.Protocol(t, "").Apply(t.Context(), typeName, k.config, nil)
			p.NoErrors(diags)
			none, diags := p.Walk().ApplyPlan(t.Context(), typeName, k.config, nil, early)
			if acctest.Expect(t, diags, "ERROR", k.conflict); !none.Gone() || !strings.Contains(acctest.Render(diags), o.Text("id")) && !strings.Contains(acctest.Render(diags), "import {") {
				t.Errorf("%s: the apply leaves %s: %s", typeName, none.State, acctest.Render(diags))
			}
			if typeName == "mailhost_dns_record" && !s.PublishedOnly {
				acctest.Expect(t, diags, "The record exists, with the id "+o.Text("id"), `id = "example.com/A/www/192.0.2.1"`)
			}
			plan, diags := p.Walk().Plan(typeName, k.config, nil)
			if typeName == "mailhost_dns_record" && s.PublishedOnly { // only the apply can know it
				p.NoErrors(diags)
				_, diags = p.ApplyPlan(t.Context(), typeName, k.config, nil, plan)
				acctest.Expect(t, diags, "ERROR", "on_existing")
			} else {
				acctest.Expect(t, diags, "ERROR: The ", " exists already", o.Text("id"), "\"with\"", "import {\n    to = "+typeName+".<name>\n    id = \"", "on_existing = \"adopt\"", service.ExistingGuide)
			}
			adopting := maps.Clone(k.config)
			adopting["on_existing"] = "adopt"
			plan, diags = p.Walk().Plan(typeName, adopting, nil)
			p.NoErrors(diags)
			if typeName != "mailhost_dns_record" || !s.PublishedOnly {
				acctest.Expect(t, diags, "WARNING", "The plan adopts the ", o.Text("id"), "a destroy deletes it")
			}
			adopted, diags := p.ApplyPlan(t.Context(), typeName, adopting, nil, plan)
			p.NoErrors(diags)
			assert.Check(t, adopted.Text("id") == o.Text("id"), "%s: adopted %s, want %s", typeName, adopted.Text("id"), o.Text("id"))
			refreshed, diags := p.Walk().Read(typeName, adopted)
			p.NoErrors(diags)
			again, diags := p.Plan(typeName, adopting, refreshed)
			assert.Check(t, acctest.Errors(diags) <= 0 && again.State.Equal(refreshed.State), "%s: the next plan is not empty: %s\n%s", typeName, again.State, acctest.Render(diags))
			// The state of another address has it.
			p.Together()
			_, diags = p.Read(typeName, refreshed)
			p.NoErrors(diags)
			_, diags = p.Plan(typeName, adopting, nil)
			if k.isValuable {
				acctest.Expect(t, diags, "ERROR", "exists already", "Terraform's state has it", "moved block", service.ExistingGuide)
				assert.Check(t, !strings.Contains(acctest.Render(diags), "import {"), "the advice is to import what the state has: %s", acctest.Render(diags))
			}
		}
	})
}

// TestDeleteOfAcquired checks that a run does not delete an object that it acquired: a
// deposed object after a create that adopted it.
func TestDeleteOfAcquired(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for typeName, k := range kinds(t, s) {
		p := s.Protocol(t, "").Together()
		plan, diags := p.Plan(typeName, k.config, nil)
		p.NoErrors(diags)
		o, diags := p.ApplyPlan(t.Context(), typeName, k.config, nil, plan)
		p.NoErrors(diags)
		destroy := &acctest.Object{State: p.Null(typeName), Private: o.Private, Identity: o.Identity}
		kept, diags := p.ApplyPlan(t.Context(), typeName, nil, o, destroy)
		t.Log(typeName)
		acctest.Expect(t, diags, "ERROR: The ", " was not deleted", "Nothing was deleted", o.Text("id"), service.ExistingGuide)
		assert.Check(t, !kept.Gone(), "%s: the state lost it", typeName)
		read, _ := p.Walk().Read(typeName, o)
		assert.Check(t, !read.Gone(), "%s was deleted", typeName)
		_, diags = p.Apply(t.Context(), typeName, nil, o) // another run may delete it
		p.NoErrors(diags)
	}
}

// TestLeftOver plans the create of a service account, which has no natural key, while the account has one
// that the state lacks, as after an apply that was killed, and one that the state has.
func TestLeftOver(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	const typeName = "mailhost_service_account"
	config := kinds(t, s)[typeName].config
	p := s.Protocol(t, "")
	_, diags := p.Walk().Plan(typeName, config, nil)
	assert.Check(t, !strings.Contains(acctest.Render(diags), "the state may not have"), "there is none: %s", acctest.Render(diags))
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	_, diags = p.Walk().Plan(typeName, config, nil)
	acctest.Expect(t, diags, "WARNING", "An active service account \"ci\" exists that the state may not have", o.Text("id"), "nothing is left over")
	p.Together()
	_, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	if _, diags = p.Plan(typeName, config, nil); strings.Contains(acctest.Render(diags), "the state may not have") {
		t.Errorf("the state has it: %s", acctest.Render(diags))
	}
}

// TestRemainsAreAnnounced plans the destroy and the replacement of each resource: if the
// API can't delete it, the plan warns that it will still exist. A set has several mailboxes; its
// own tests have their warnings.
func TestRemainsAreAnnounced(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		for name, r := range kinds(t, s) {
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), name, r.config, nil)
			p.NoErrors(diags)
			for what, config := range map[string]map[string]any{"destroy": nil, "replacement": r.replacing, "nothing": r.config} {
				if what == "replacement" && config == nil {
					continue
				}
				plan, diags := s.Protocol(t, "").Plan(name, config, o) // a provider that has sent no request yet
				p.NoErrors(diags)
				replaced := len(plan.Replace) > 0
				assert.Check(t, replaced == (what == "replacement"), "%s of %s replaces at %s", what, name, plan.Replace)
				text := acctest.Render(diags)
				if told := strings.Contains(text, "will still exist") && strings.Contains(text, o.Text("id")); told != (s.PublishedOnly && what != "nothing") {
					t.Errorf("the plan of %s of %s has the diagnostics %q", what, name, text)
				} else if told {
					acctest.Expect(t, diags, append([]string{"WARNING"}, r.remains...)...)
				}
			}
		}
	})
}

// TestImpossibleChange plans changes that the published operations can't make: the plan says so.
func TestImpossibleChange(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		s.Mailbox(t, "example.com", "office")
		for typeName, c := range map[string]struct {
			config, change values
			want           []string
		}{
			"mailhost_dns_record": {
				kinds(t, s)["mailhost_dns_record"].config, values{"value": "192.0.2.2"},
				[]string{"WARNING: The A record www of example.com can't be changed in place", "the apply will fail"},
			},
			"mailhost_forwarding": {
				values{"target_email": "office@example.com"}, values{"active": false},
				[]string{`WARNING at AttributeName("active"): The forwarding rule to office@example.com of the account can't be switched on or off`, "the apply will fail"},
			},
			"mailhost_master_password": {
				values{"name": "ops", "value": "a-long-secret"}, values{"value": "another-secret"},
				[]string{`ERROR at AttributeName("name")`, `The master password "ops" can't be deleted`, "Set another name"},
			},
		} {
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), typeName, c.config, nil)
			p.NoErrors(diags)
			if _, diags = s.Protocol(t, "").Plan(typeName, c.config, o); len(diags) > 0 {
				t.Errorf("%s: no change: %s", typeName, acctest.Render(diags))
			}
			plan, diags := s.Protocol(t, "").Plan(typeName, merged(c.config, c.change), o)
			if s.PublishedOnly {
				acctest.Expect(t, diags, c.want...)
			} else if d := difference(c.change, plain(t, plan.State)); d != "" || acctest.Errors(diags) > 0 {
				t.Errorf("%s: (-want +got):\n%s\n%s", typeName, d, acctest.Render(diags))
			}
		}
	})
}
