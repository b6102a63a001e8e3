package forwarding_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// three creates a rule in each kind of scope: an active one for the domain, an inactive
// one for the workspace, and a pending one for the account.
func three(t *testing.T, s *acctest.Server) (domain *api.Domain, ofDomain, ofWorkspace, ofAccount *api.Forwarding) {
	t.Helper()
	domain = s.Domain(t, "bücher.com")
	s.Mailbox(t, domain.ID, "office")
	ofDomain = create(t, s, api.CreateForwardingBody{TargetEmail: "office@bücher.com", Domain: &domain.ID})
	ofWorkspace = create(t, s, api.CreateForwardingBody{TargetEmail: "office@bücher.com", WorkspaceID: &s.WorkspaceID})
	ofAccount = create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
	_, err := s.Client.SetForwardingActive(t.Context(), ofWorkspace.ID, false)
	must(t, err)
	return domain, ofDomain, ofWorkspace, ofAccount
}

func TestDataSources(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d, ofDomain, ofWorkspace, ofAccount := three(t, s)
		config := s.ProviderConfig() + fmt.Sprintf(`
data "mailhost_forwarding" "by_id" {
  id = upper(%[1]q)
}
data "mailhost_forwarding" "by_name" {
  domain       = "Bücher.COM"
  target_email = "Office@Bücher.com"
}
data "mailhost_forwarding" "by_domain_id" {
  domain       = %[2]q
  target_email = "office@bücher.com"
}
data "mailhost_forwarding" "workspace" {
  workspace_id = %[3]q
  target_email = "office@bücher.com"
}
data "mailhost_forwarding" "account" {
  target_email = "Jane@example.org"
}
data "mailhost_forwardings" "all" {}
data "mailhost_forwardings" "domain" {
  domain = "Bücher.COM"
}
data "mailhost_forwardings" "workspace" {
  workspace_id       = %[3]q
  verification_state = "internal"
}
data "mailhost_forwardings" "pending" {
  scope_type         = "account"
  verification_state = "pending"
  search             = "JANE"
}
data "mailhost_forwardings" "none" {
  domain = "example.net"
}
`, ofDomain.ID, d.ID, s.WorkspaceID)
		found := func(name string, rules ...*api.Forwarding) statecheck.StateCheck {
			var all []knownvalue.Check
			for _, f := range rules {
				all = append(all, knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": knownvalue.StringExact(f.ID), "target_email": knownvalue.StringExact(f.TargetEmail)}))
			}
			return statecheck.ExpectKnownValue("data.mailhost_forwardings."+name, tfjsonpath.New("forwardings"), knownvalue.ListExact(all))
		}
		one := func(name, attribute string, want knownvalue.Check) statecheck.StateCheck {
			return statecheck.ExpectKnownValue("data.mailhost_forwarding."+name, tfjsonpath.New(attribute), want)
		}
		checks := []statecheck.StateCheck{
			found("all", ofDomain, ofWorkspace, ofAccount), found("domain", ofDomain), found("workspace", ofWorkspace), found("pending", ofAccount), found("none"),
			one("workspace", "id", knownvalue.StringExact(ofWorkspace.ID)), one("workspace", "active", knownvalue.Bool(false)), one("workspace", "domain", knownvalue.Null()),
			one("account", "id", knownvalue.StringExact(ofAccount.ID)), one("account", "scope_id", knownvalue.StringExact(s.AccountID)),
			one("account", "verification_state", knownvalue.StringExact(vocab.VerificationPending)), one("account", "verification_sent_at", knownvalue.NotNull()),
		}
		for _, name := range []string{"by_id", "by_name", "by_domain_id"} {
			checks = append(checks, one(name, "id", knownvalue.StringExact(ofDomain.ID)), one(name, "scope_id", knownvalue.StringExact(d.ID)),
				one(name, "active", knownvalue.Bool(true)), one(name, "workspace_id", knownvalue.Null()))
		}
		for name, domain := range map[string]string{"by_id": d.Name, "by_name": "Bücher.COM", "by_domain_id": d.ID} { // the configured spelling is kept where the data source has a domain
			checks = append(checks, one(name, "domain", knownvalue.StringExact(domain)))
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: checks},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		}})
	})
}

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	const id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	for name, c := range map[string]struct {
		plural bool
		config attributes
		want   string
	}{
		"missing":                {false, attributes{"target_email": "jane@example.org"}, `ERROR: Can't find the forwarding rule with target_email = "jane@example.org"(?s).*Check the spelling`},
		"missing id":             {false, attributes{"id": id}, `Can't find the forwarding rule with id = "` + id},
		"no such domain":         {false, attributes{"target_email": "jane@example.org", "domain": "example.net"}, `Can't find .*domain = "example.net"`},
		"no argument":            {false, nil, `(?s)id.*target_email`},
		"both keys":              {false, attributes{"id": id, "target_email": "jane@example.org"}, `(?s)id.*target_email`},
		"scope alone":            {false, attributes{"domain": "example.com"}, `(?s)id.*target_email`},
		"scope of an id":         {false, attributes{"id": id, "domain": "example.com"}, `AttributeName\("domain"\)(?s).*"target_email" must be specified`},
		"two scopes":             {false, attributes{"target_email": "jane@example.org", "domain": "example.com", "workspace_id": id}, `AttributeName\("workspace_id"\): Both domain and workspace_id(?s).*Remove domain or`},
		"no address":             {false, attributes{"target_email": "jane"}, `target_email must be`},
		"filter by two scopes":   {true, attributes{"domain": "example.com", "workspace_id": id}, `AttributeName\("workspace_id"\): Both domain and workspace_id`},
		"filter by another type": {true, attributes{"scope_type": "team"}, `scope_type must be one of account, workspace, domain`},
		"filter by no state":     {true, attributes{"verification_state": "lost"}, `verification_state must be one of internal`},
	} {
		source := typeName
		if c.plural {
			source += "s"
		}
		_, diags := p.ReadData(source, c.config)
		if text := acctest.Render(diags); !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		three(t, s)
		p := s.Protocol(t, "")
		_, diags := p.Apply(t.Context(), typeName, attributes{"target_email": "joe@example.org"}, nil)
		p.NoErrors(diags)
		confirm(t, s)
		for _, c := range map[string]struct {
			config attributes
			want   []string
		}{
			"all":       {nil, []string{"office@xn--bcher-kva.com (domain)", "office@xn--bcher-kva.com (workspace)", "jane@example.org", "joe@example.org"}},
			"domain":    {attributes{"domain": "Bücher.com"}, []string{"office@xn--bcher-kva.com (domain)"}},
			"workspace": {attributes{"workspace_id": s.WorkspaceID, "search": "office"}, []string{"office@xn--bcher-kva.com (workspace)"}},
			"state":     {attributes{"scope_type": "account", "verification_state": "verified"}, []string{"joe@example.org"}},
		} {
			for _, l := range p.ExpectListed(t, typeName, c.config, c.want...) {
				waits := l.Text("verification_state") == vocab.VerificationPending
				if config := p.AsConfig(typeName, &l.Object); (config["active"] == nil) != waits {
					t.Errorf("the generated configuration of a rule that is %s is %v", l.Text("verification_state"), config)
				}
			}
		}
		_, diags = p.List(typeName, attributes{"domain": "example.com", "workspace_id": s.WorkspaceID}, 100)
		acctest.Expect(t, diags, `at AttributeName("workspace_id")`, "Both domain and workspace_id")
	})
}

// TestListReadsDomainsOnce counts the requests for the names of the rules' domains.
func TestListReadsDomainsOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for i := range 3 {
		d := s.Domain(t, fmt.Sprintf("example%d.com", i))
		for j := range 4 {
			create(t, s, api.CreateForwardingBody{TargetEmail: fmt.Sprintf("jane%d@example.org", j), Domain: &d.ID})
		}
	}
	var requests atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/domains") {
			requests.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 100)
	p.NoErrors(diags)
	if len(listed) != 12 || listed[11].Text("domain") != "example2.com" || requests.Load() != 2 {
		t.Errorf("listed %d, the last of %s, with %d requests for domains; want 12 with 2", len(listed), listed[len(listed)-1].Text("domain"), requests.Load())
	}
	requests.Store(0)
	listed, diags = p.ListIdentities(typeName, nil, 100)
	p.NoErrors(diags)
	if len(listed) != 12 || listed[11].DisplayName != "jane3@example.org (domain)" || !listed[11].State.IsNull() || requests.Load() != 0 {
		t.Errorf("without the objects, listed %d, the last of them %v, with %d requests for domains", len(listed), listed[len(listed)-1], requests.Load())
	}
}

// TestGeneratedConfiguration plans the configuration that Terraform generates for an
// imported rule, which contains active.
func TestGeneratedConfiguration(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		three(t, s)
		p := s.Protocol(t, "")
		for _, f := range rules(t, s) {
			o, diags := p.Import(typeName, f.ID, nil)
			p.NoErrors(diags)
			o, diags = p.Read(typeName, o)
			p.NoErrors(diags)
			config := p.AsConfig(typeName, o)
			plan, diags := p.Plan(typeName, config, o)
			p.NoErrors(diags)
			if config["active"] == nil || !plan.State.Equal(o.State) || len(plan.Replace) > 0 {
				t.Errorf("%v plans %s\nwhile there is %s", config, plan.State, o.State)
			}
			if waits := f.VerificationState == vocab.VerificationPending; waits != (len(diags) == 1) {
				t.Errorf("the plan of a rule with the state %s: %s", f.VerificationState, acctest.Render(diags))
			} else if waits {
				acctest.Expect(t, diags, `WARNING at AttributeName("active")`, "not switched off yet", "generated configuration, remove it")
			}
		}
	})
}
