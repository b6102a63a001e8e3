package masterpassword_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// create creates a master password outside Terraform.
func create(t *testing.T, s *acctest.Server, body api.CreateMasterPasswordBody) *api.MasterPassword {
	t.Helper()
	body.Generate = true
	p, err := s.Client.CreateMasterPassword(t.Context(), body)
	must(t, err)
	return &p.MasterPassword
}

// three creates a master password with the same name in each kind of scope.
func three(t *testing.T, s *acctest.Server) (domain *api.Domain, ofDomain, ofWorkspace, ofAccount *api.MasterPassword) {
	t.Helper()
	domain = s.Domain(t, "bücher.com")
	return domain, create(t, s, api.CreateMasterPasswordBody{Name: "Ops", Domain: &domain.Name}),
		create(t, s, api.CreateMasterPasswordBody{Name: "Ops", WorkspaceID: &s.WorkspaceID}),
		create(t, s, api.CreateMasterPasswordBody{Name: "Ops"})
}

func TestDataSources(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d, ofDomain, ofWorkspace, ofAccount := three(t, s)
		config := s.ProviderConfig() + fmt.Sprintf(`
data "mailhost_master_password" "by_id" {
  id = upper(%[1]q)
}
data "mailhost_master_password" "by_name" {
  domain = "Bücher.COM"
  name   = "Ops"
}
data "mailhost_master_password" "by_domain_id" {
  domain = %[2]q
  name   = "Ops"
}
data "mailhost_master_password" "workspace" {
  workspace_id = %[3]q
  name         = "Ops"
}
data "mailhost_master_password" "account" {
  name = "Ops"
}
data "mailhost_master_passwords" "all" {}
data "mailhost_master_passwords" "domain" {
  domain = "Bücher.COM"
  search = "OPS"
}
data "mailhost_master_passwords" "workspace" {
  workspace_id = %[3]q
}
data "mailhost_master_passwords" "account" {
  scope_type = "account"
}
data "mailhost_master_passwords" "none" {
  search = "dev"
}
`, ofDomain.ID, d.ID, s.WorkspaceID)
		found := func(name string, passwords ...*api.MasterPassword) statecheck.StateCheck {
			var all []knownvalue.Check
			for _, p := range passwords {
				all = append(all, knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": knownvalue.StringExact(p.ID), "scope_type": knownvalue.StringExact(p.ScopeType)}))
			}
			return statecheck.ExpectKnownValue("data.mailhost_master_passwords."+name, tfjsonpath.New("master_passwords"), knownvalue.ListExact(all))
		}
		one := func(name, attribute string, want knownvalue.Check) statecheck.StateCheck {
			return statecheck.ExpectKnownValue("data.mailhost_master_password."+name, tfjsonpath.New(attribute), want)
		}
		checks := []statecheck.StateCheck{
			found("all", ofDomain, ofWorkspace, ofAccount), found("domain", ofDomain), found("workspace", ofWorkspace), found("account", ofAccount), found("none"),
			one("workspace", "id", knownvalue.StringExact(ofWorkspace.ID)), one("workspace", "domain", knownvalue.Null()),
			one("account", "id", knownvalue.StringExact(ofAccount.ID)), one("account", "scope_id", knownvalue.StringExact(s.AccountID)),
		}
		for name, domain := range map[string]string{"by_id": d.Name, "by_name": "Bücher.COM", "by_domain_id": d.ID} {
			checks = append(checks, one(name, "id", knownvalue.StringExact(ofDomain.ID)), one(name, "scope_id", knownvalue.StringExact(d.ID)),
				one(name, "name", knownvalue.StringExact("Ops")), one(name, "domain", knownvalue.StringExact(domain)), one(name, "workspace_id", knownvalue.Null()),
				one(name, "created_at", knownvalue.StringExact(ofDomain.CreatedAt)))
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: checks},
			{Config: config, ConfigPlanChecks: empty},
		}})
	})
}

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	create(t, s, api.CreateMasterPasswordBody{Name: "Ops"})
	p := s.Protocol(t, "")
	const id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	for name, c := range map[string]struct {
		plural bool
		config map[string]any
		want   string
	}{
		"missing":                {false, map[string]any{"name": "ops"}, `ERROR: Can't find the master password with name = "ops"(?s).*Check the spelling`},
		"missing id":             {false, map[string]any{"id": id}, `Can't find the master password with id = "` + id},
		"in another scope":       {false, map[string]any{"name": "Ops", "workspace_id": s.WorkspaceID}, `Can't find .*workspace_id = "`},
		"no argument":            {false, nil, `(?s)id.*name`},
		"both keys":              {false, map[string]any{"id": id, "name": "Ops"}, `(?s)id.*name`},
		"scope of an id":         {false, map[string]any{"id": id, "workspace_id": id}, `AttributeName\("workspace_id"\)(?s).*"name" must be specified`},
		"two scopes":             {false, map[string]any{"name": "Ops", "domain": "example.com", "workspace_id": id}, `AttributeName\("workspace_id"\): Both domain and workspace_id(?s).*Remove domain or`},
		"no id":                  {false, map[string]any{"id": "Ops"}, `id must be a UUID`},
		"filter by two scopes":   {true, map[string]any{"domain": "example.com", "workspace_id": id}, `AttributeName\("workspace_id"\): Both domain and workspace_id`},
		"filter by another type": {true, map[string]any{"scope_type": "team"}, `scope_type must be one of account, workspace, domain`},
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
		create(t, s, api.CreateMasterPasswordBody{Name: "Backup"})
		p := s.Protocol(t, "")
		for _, c := range map[string]struct {
			config map[string]any
			want   []string
		}{
			"all":       {nil, []string{"Ops (domain)", "Ops (workspace)", "Ops", "Backup"}},
			"domain":    {map[string]any{"domain": "Bücher.com"}, []string{"Ops (domain)"}},
			"workspace": {map[string]any{"workspace_id": s.WorkspaceID, "search": "op"}, []string{"Ops (workspace)"}},
			"account":   {map[string]any{"scope_type": "account", "search": "BACK"}, []string{"Backup"}},
		} {
			for _, l := range p.ExpectListed(t, typeName, c.config, c.want...) {
				if config := p.AsConfig(typeName, &l.Object); config["generate"] != nil || config["value_wo_version"] != nil {
					t.Errorf("the generated configuration is %v", config)
				}
			}
		}
		_, diags := p.List(typeName, map[string]any{"domain": "example.com", "workspace_id": s.WorkspaceID}, 100)
		acctest.Expect(t, diags, `at AttributeName("workspace_id")`, "Both domain and workspace_id")
	})
}

// TestListReadsDomainsOnce counts the requests for the names of the domains.
func TestListReadsDomainsOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for i := range 3 {
		d := s.Domain(t, fmt.Sprintf("example%d.com", i))
		for j := range 4 {
			create(t, s, api.CreateMasterPasswordBody{Name: fmt.Sprint(j), Domain: &d.ID})
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
		t.Errorf("listed %d, with %d requests for domains; want 12 with 2", len(listed), requests.Load())
	}
}

// TestGeneratedConfiguration checks a generated configuration, which has no secret:
// changes without a secret are applied, and a replacement is refused.
func TestGeneratedConfiguration(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	created := create(t, s, api.CreateMasterPasswordBody{Name: "ops", Domain: new("example.com")})
	p := s.Protocol(t, "")
	o, diags := p.Import(typeName, created.ID, nil)
	p.NoErrors(diags)
	o, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	config := p.AsConfig(typeName, o)
	config["name"] = "dev"
	o, diags = p.Apply(t.Context(), typeName, config, o)
	p.NoErrors(diags)
	if o.Text("name") != "dev" || o.Text("id") != created.ID {
		t.Errorf("renamed to %s", o.State)
	}
	config["domain"] = nil
	plan, diags := p.Plan(typeName, config, o)
	p.NoErrors(diags)
	if len(plan.Replace) != 1 {
		t.Errorf("another scope replaces because of %v", plan.Replace)
	}
	_, diags = p.Plan(typeName, config, nil) // Terraform then plans the create
	expect(t, diags, "A master password without a secret", "Set value, value_wo with value_wo_version, or generate = true")
}
