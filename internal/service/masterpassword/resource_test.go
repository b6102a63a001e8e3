package masterpassword_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

const address = "mailhost_master_password.this"

// password returns a configuration of one master password with more arguments.
func password(s *acctest.Server, name, arguments string) string {
	return s.ProviderConfig() + fmt.Sprintf("resource \"mailhost_master_password\" \"this\" {\n  name = %q\n%s\n}\n", name, arguments)
}

// plans expects a plan with this action, and more.
func plans(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}, more...)}
}

var empty = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}

func has(attribute string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), want)
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		id := statecheck.CompareValue(sameString{})
		withValue := func(domain string) string { return fmt.Sprintf("domain = %q\nvalue = \"hunter22\"", domain) }
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				Config: password(s, "ops team", withValue("Bücher.COM.")),
				ConfigPlanChecks: plans(plancheck.ResourceActionCreate,
					plancheck.ExpectSensitiveValue(address, tfjsonpath.New("value")),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("generated_secret"), knownvalue.Null()),
				),
				ConfigStateChecks: []statecheck.StateCheck{
					has("domain", knownvalue.StringExact("Bücher.COM.")),
					has("scope_type", knownvalue.StringExact(vocab.ScopeDomain)),
					has("scope_id", knownvalue.StringExact(d.ID)),
					has("workspace_id", knownvalue.Null()),
					statecheck.ExpectSensitiveValue(address, tfjsonpath.New("value")),
					id.AddStateValue(address, tfjsonpath.New("id")),
				},
			},
			{Config: password(s, "ops team", withValue("xn--bcher-kva.com")), ConfigPlanChecks: empty},
			{Config: password(s, "ops team", withValue(d.ID)+"\ngenerate = null"), ConfigPlanChecks: empty},
			{
				Config: password(s, "ops", withValue("bücher.com")),
				ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
					plancheck.ExpectKnownValue(address, tfjsonpath.New("id"), knownvalue.NotNull()),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("scope_id"), knownvalue.StringExact(d.ID)),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("created_at"), knownvalue.NotNull()),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("updated_at")),
				),
				ConfigStateChecks: []statecheck.StateCheck{
					has("name", knownvalue.StringExact("ops")), id.AddStateValue(address, tfjsonpath.New("id")),
				},
			},
			{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "value"}},
			{ResourceName: address, ImportState: true, ImportStateId: "BÜCHER.com/ops", ImportStateVerify: true, ImportStateVerifyIgnore: []string{"domain", "value"}},
		}})
	})
}

func TestScopeChanges(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	first, second := s.Domain(t, "example.com"), s.Domain(t, "example.org")
	in := func(scope string) string { return password(s, "ops", scope+"\ngenerate = true") }
	replaced := plans(plancheck.ResourceActionReplace)
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:            in(""),
			ConfigStateChecks: []statecheck.StateCheck{has("scope_type", knownvalue.StringExact(vocab.ScopeAccount)), has("scope_id", knownvalue.StringExact(s.AccountID))},
		},
		{
			Config: in(fmt.Sprintf("domain = %q", first.ID)), ConfigPlanChecks: replaced,
			ConfigStateChecks: []statecheck.StateCheck{has("scope_id", knownvalue.StringExact(first.ID))},
		},
		// With an id in the state and a name in the configuration, the domain has to be
		// read.
		{Config: in(`domain = "EXAMPLE.com"`), ConfigPlanChecks: empty},
		{
			Config: in(`domain = "example.org"`), ConfigPlanChecks: replaced,
			ConfigStateChecks: []statecheck.StateCheck{has("scope_id", knownvalue.StringExact(second.ID))},
		},
		{
			Config: in(fmt.Sprintf("workspace_id = %q", s.WorkspaceID)), ConfigPlanChecks: replaced,
			ConfigStateChecks: []statecheck.StateCheck{has("scope_type", knownvalue.StringExact(vocab.ScopeWorkspace)), has("domain", knownvalue.Null())},
		},
		{Config: in(fmt.Sprintf("workspace_id = upper(%q)", s.WorkspaceID)), ConfigPlanChecks: empty},
		{Config: in(""), ConfigPlanChecks: replaced},
	}})
}

func TestGenerate(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	secret := tfjsonpath.New("generated_secret")
	kept := statecheck.CompareValue(sameString{})
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:           password(s, "ops", "generate = true"),
			ConfigPlanChecks: plans(plancheck.ResourceActionCreate, plancheck.ExpectUnknownValue(address, secret), plancheck.ExpectSensitiveValue(address, secret)),
			ConfigStateChecks: []statecheck.StateCheck{
				has("generated_secret", knownvalue.StringRegexp(regexp.MustCompile(`^.{20,}$`))),
				statecheck.ExpectSensitiveValue(address, secret), kept.AddStateValue(address, secret),
			},
		},
		{
			Config:            password(s, "ops 2", "generate = true"),
			ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate, plancheck.ExpectKnownValue(address, secret, knownvalue.NotNull())),
			ConfigStateChecks: []statecheck.StateCheck{kept.AddStateValue(address, secret)},
		},
		{
			Config:            password(s, "ops 2", `value = "hunter22"`),
			ConfigPlanChecks:  plans(plancheck.ResourceActionReplace),
			ConfigStateChecks: []statecheck.StateCheck{has("generated_secret", knownvalue.Null())},
		},
		{Config: password(s, "ops 2", `value = "hunter23"`), ConfigPlanChecks: plans(plancheck.ResourceActionReplace)},
		{Config: password(s, "ops 2", "value = \"hunter23\"\ngenerate = false"), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate)},
	}})
}

// TestWriteOnly checks that a secret can be moved out of the state and changed.
func TestWriteOnly(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	id := statecheck.CompareValue(sameString{})
	writeOnly := func(value string, version int) string {
		return password(s, "ops", fmt.Sprintf("value_wo = %q\nvalue_wo_version = %d", value, version))
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:            password(s, "ops", `value = "hunter22"`),
			ConfigStateChecks: []statecheck.StateCheck{id.AddStateValue(address, tfjsonpath.New("id"))},
		},
		{
			Config:           writeOnly("hunter22", 1),
			ConfigPlanChecks: plans(plancheck.ResourceActionUpdate, plancheck.ExpectKnownValue(address, tfjsonpath.New("updated_at"), knownvalue.NotNull())),
			ConfigStateChecks: []statecheck.StateCheck{
				id.AddStateValue(address, tfjsonpath.New("id")),
				has("value", knownvalue.Null()), has("value_wo", knownvalue.Null()), has("value_wo_version", knownvalue.Int64Exact(1)),
			},
		},
		{Config: writeOnly("hunter23", 1), ConfigPlanChecks: empty}, // a change without a new version is invisible
		{
			Config: writeOnly("hunter23", 2), ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
			ConfigStateChecks: []statecheck.StateCheck{has("value_wo", knownvalue.Null()), has("value", knownvalue.Null())},
		},
		{Config: password(s, "ops", `value = "hunter23"`), ConfigPlanChecks: plans(plancheck.ResourceActionReplace)},
	}})
}

// TestDrift checks that a new name from outside Terraform is reverted.
func TestDrift(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		config := password(s, "ops", `value = "hunter22"`)
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() {
					p, err := s.Client.FindMasterPassword(t.Context(), "ops", client.Scope{})
					if err == nil {
						_, err = s.Client.RenameMasterPassword(t.Context(), p.ID, "somebody's")
					}
					if err != nil {
						t.Error(err)
					}
				},
				Config:            config,
				ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate, plancheck.ExpectKnownValue(address, tfjsonpath.New("name"), knownvalue.StringExact("ops"))),
				ConfigStateChecks: []statecheck.StateCheck{has("name", knownvalue.StringExact("ops")), has("value", knownvalue.StringExact("hunter22"))},
			},
		}})
	})
}

// TestSecretLeftOut checks that removing the secret from the configuration only removes it
// from the state, for each kind of secret.
func TestSecretLeftOut(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for name, secret := range map[string]string{
		"value": `value = "hunter22"`, "value_wo": "value_wo = \"hunter22\"\nvalue_wo_version = 1", "generate": "generate = true",
	} {
		t.Run(name, func(t *testing.T) {
			id := statecheck.CompareValue(sameString{})
			kept := func() statecheck.StateCheck { return id.AddStateValue(address, tfjsonpath.New("id")) }
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
				{Config: password(s, name, secret), ConfigStateChecks: []statecheck.StateCheck{kept()}},
				{
					Config: password(s, name, ""),
					ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
						plancheck.ExpectKnownValue(address, tfjsonpath.New("updated_at"), knownvalue.NotNull())),
					ConfigStateChecks: []statecheck.StateCheck{
						kept(), has("value", knownvalue.Null()), has("generated_secret", knownvalue.Null()), has("value_wo_version", knownvalue.Null()), has("generate", knownvalue.Null()),
					},
				},
				{Config: password(s, name+" 2", ""), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate), ConfigStateChecks: []statecheck.StateCheck{kept()}},
				{Config: password(s, name+" 2", `value = "hunter22"`), ConfigPlanChecks: plans(plancheck.ResourceActionReplace)},
			}})
		})
	}
}

// TestImportIntoEmptyState checks that an import, which has no secret, is not replaced for
// any configured secret.
func TestImportIntoEmptyState(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		for i, c := range []struct{ scope, key, secret string }{
			{"", "%s", `value = "hunter22"`},
			{fmt.Sprintf("domain = %q", d.ID), "Example.com/%s", "generate = true"},
			{fmt.Sprintf("workspace_id = upper(%q)", s.WorkspaceID), s.WorkspaceID + "/%s", "value_wo = \"hunter22\"\nvalue_wo_version = 7"},
		} {
			name := fmt.Sprintf("no/%d", i) // a name may contain a slash
			body := api.CreateMasterPasswordBody{Name: name, Generate: true}
			switch i {
			case 1:
				body.Domain = &d.Name
			case 2:
				body.WorkspaceID = &s.WorkspaceID
			}
			created, err := s.Client.CreateMasterPassword(t.Context(), body)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				config := password(s, name, c.scope+"\n"+c.secret)
				imported := config + fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, fmt.Sprintf(c.key, name))
				acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
					{
						Config: imported,
						ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
							plancheck.ExpectKnownValue(address, tfjsonpath.New("updated_at"), knownvalue.StringExact(created.UpdatedAt)),
							plancheck.ExpectKnownValue(address, tfjsonpath.New("generated_secret"), knownvalue.Null()),
						),
						ConfigStateChecks: []statecheck.StateCheck{
							has("id", knownvalue.StringExact(created.ID)), has("generated_secret", knownvalue.Null()),
							has("updated_at", knownvalue.StringExact(created.UpdatedAt)),
						},
					},
					{Config: config, ConfigPlanChecks: empty},
				}})
			})
		}
	})
}

// TestSecretAddedAfterImport adds a secret to a master password that was imported without
// one. The import's plan was empty, so that Terraform has not stored it.
func TestSecretAddedAfterImport(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	unknown := regexp.MustCompile(`(?s)The secret of the master password.*is not\s+known.*terraform\s+taint`)
	for name, steps := range map[string][]resource.TestStep{
		"refused": {
			{Config: password(s, "refused", ""), ConfigPlanChecks: empty},
			{Config: password(s, "refused", `value = "hunter22"`), ExpectError: unknown},
			{Config: password(s, "refused", "generate = true"), ExpectError: unknown},
		},
		"tainted": {{
			Taint: []string{address}, Config: password(s, "tainted", `value = "hunter22"`), ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
			ConfigStateChecks: []statecheck.StateCheck{has("value", knownvalue.StringExact("hunter22"))},
		}},
	} {
		if _, err := s.Client.CreateMasterPassword(t.Context(), api.CreateMasterPasswordBody{Name: name, Generate: true}); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: append([]resource.TestStep{{
				Config:           password(s, name, "") + fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, name),
				ConfigPlanChecks: plans(plancheck.ResourceActionNoop),
			}}, steps...)})
		})
	}
}

func TestDisappears(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		config := password(s, "ops", "generate = true")
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config},
			{
				PreConfig: func() {
					p, err := s.Client.FindMasterPassword(t.Context(), "ops", client.Scope{})
					if err == nil {
						err = s.Client.DeleteMasterPassword(t.Context(), p.ID)
					}
					if err != nil {
						t.Error(err)
					}
				},
				Config:           config,
				ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
			},
		}})
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	if _, err := s.Client.CreateMasterPassword(t.Context(), api.CreateMasterPasswordBody{Name: "taken", Generate: true}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ config, want string }{
		"no secret":      {password(s, "ops", "generate = false"), `(?s)without a secret.*generate = true`},
		"nothing at all": {password(s, "ops", ""), `(?s)without a secret.*value_wo with\s+value_wo_version`},
		"two secrets":    {password(s, "ops", "value = \"hunter22\"\ngenerate = true"), `(?s)generate = true\n.*Both value\s+and\s+generate`},
		"no version":     {password(s, "ops", `value_wo = "hunter22"`), `value_wo without value_wo_version`},
		"version alone":  {password(s, "ops", "generate = true\nvalue_wo_version = 1"), `value_wo_version without value_wo`},
		"short":          {password(s, "ops", `value = "abc"`), `value must be 4 to 256 characters`},
		"two scopes":     {password(s, "ops", fmt.Sprintf("generate = true\ndomain = \"example.com\"\nworkspace_id = %q", s.WorkspaceID)), `(?s)Both domain and workspace_id.*Remove domain or`},
		"no workspace":   {password(s, "ops", "generate = true\nworkspace_id = \"main\""), `workspace_id must be a UUID`},
		"unknown domain": {password(s, "ops", "generate = true\ndomain = \"missing.com\""), `(?s)domain += "missing.com".*no domain`},
		"name taken":     {password(s, "taken", "generate = true"), `(?s)Can't create the master password "taken".*import it`},
		"nothing to import": {
			password(s, "ops", "generate = true") + fmt.Sprintf("import {\n  to = %s\n  id = \"example.net/ops\"\n}\n", address), `(?s)Can't import "example.net/ops"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: c.config, ExpectError: regexp.MustCompile(c.want)}}})
		})
	}
}

// sameString compares the values of an attribute in different steps of a test.
type sameString struct{}

func (sameString) CompareValues(values ...any) error {
	for _, v := range values {
		if v != values[0] {
			return fmt.Errorf("it changed")
		}
	}
	return nil
}
