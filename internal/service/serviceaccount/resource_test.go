package serviceaccount_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const address = "mailhost_service_account.ci"

// account returns a configuration of one service account with more arguments.
func account(s *acctest.Server, name, arguments string) string {
	return s.ProviderConfig() + fmt.Sprintf("resource \"mailhost_service_account\" \"ci\" {\n  name = %q\n%s\n}\n", name, arguments)
}

// plans expects a plan with this action, and more.
func plans(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}, more...)}
}

var empty = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}

func has(attribute string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), want)
}

// create creates a service account outside Terraform.
func create(t *testing.T, s *acctest.Server, name string) *api.ServiceAccount {
	t.Helper()
	a, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return &a.ServiceAccount
}

func revoke(t *testing.T, s *acctest.Server, name string) {
	t.Helper()
	a, err := s.Client.FindServiceAccount(t.Context(), name)
	if err == nil {
		err = s.Client.RevokeServiceAccount(t.Context(), a.ID)
	}
	if err != nil {
		t.Error(err)
	}
}

// works reports whether the API accepts a token.
func works(s *acctest.Server, token string) bool {
	r, _ := http.NewRequest(http.MethodGet, s.URL+"/v1/public/accounts/"+s.AccountID+"/domains", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// TestLifecycle uses the token in the state, and checks that the destroy revokes it if the
// API can revoke.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		token := tfjsonpath.New("token")
		var tokens []string
		keep := func(state *terraform.State) error {
			latest := state.RootModule().Resources[address].Primary.Attributes["token"]
			if !works(s, latest) {
				return fmt.Errorf("the token does not work")
			}
			if len(tokens) == 0 || tokens[len(tokens)-1] != latest {
				tokens = append(tokens, latest)
			}
			return nil
		}
		expires := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
		acctest.Test(t, resource.TestCase{
			CheckDestroy: func(*terraform.State) error {
				for i, token := range tokens {
					if works(s, token) != s.PublishedOnly {
						return fmt.Errorf("token %d: works %t", i, works(s, token))
					}
				}
				if len(tokens) != 5 {
					return fmt.Errorf("there were %d tokens, want 5", len(tokens))
				}
				return nil
			},
			Steps: []resource.TestStep{
				{
					Config:           account(s, "CI", ""),
					ConfigPlanChecks: plans(plancheck.ResourceActionCreate, plancheck.ExpectUnknownValue(address, token), plancheck.ExpectSensitiveValue(address, token)),
					ConfigStateChecks: []statecheck.StateCheck{
						statecheck.ExpectSensitiveValue(address, token),
						has("account_id", knownvalue.StringExact(s.AccountID)), has("expires_at", knownvalue.Null()), has("revoked_at", knownvalue.Null()),
					},
					Check: keep,
				},
				// The use of the token has changed last_used_at.
				{Config: account(s, "CI", ""), ConfigPlanChecks: empty},
				{
					Config:           account(s, "CI", fmt.Sprintf("expires_at = %q", expires.Format(time.RFC3339))),
					ConfigPlanChecks: plans(plancheck.ResourceActionReplace), Check: keep,
				},
				{
					Config:           account(s, "CI", fmt.Sprintf("expires_at = %q", expires.In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05.000Z07:00"))),
					ConfigPlanChecks: empty,
				},
				{
					Config:           account(s, "CI", "rotation_triggers = { quarter = \"1\" }\nlifecycle {\n  create_before_destroy = true\n}"),
					ConfigPlanChecks: plans(plancheck.ResourceActionReplace), Check: keep,
				},
				{
					Config:           account(s, "CI", "rotation_triggers = { quarter = \"2\" }\nlifecycle {\n  create_before_destroy = true\n}"),
					ConfigPlanChecks: plans(plancheck.ResourceActionCreateBeforeDestroy), Check: keep,
				},
				{
					Config:            account(s, "CI", `valid_for = "720h"`),
					ConfigPlanChecks:  plans(plancheck.ResourceActionReplace, plancheck.ExpectUnknownValue(address, tfjsonpath.New("expires_at"))),
					ConfigStateChecks: []statecheck.StateCheck{has("expires_at", knownvalue.NotNull())}, Check: keep,
				},
				{Config: account(s, "CI", `valid_for = "43200m"`), ConfigPlanChecks: empty},
				{ // no change of the service account
					Config: account(s, "CI", "valid_for = \"720h\"\nrotate_before = \"168h\""),
					ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
						plancheck.ExpectKnownValue(address, tfjsonpath.New("expires_at"), knownvalue.NotNull()),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("updated_at"), knownvalue.NotNull()),
					),
					Check: keep,
				},
				{
					SkipFunc:     func() (bool, error) { return s.PublishedOnly, nil }, // it can't read service accounts
					ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"token", "valid_for", "rotate_before", "last_used_at"},
				},
			},
		})
	})
}

func TestImport(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for _, name := range []string{"by name", "by id"} {
		a := create(t, s, name)
		key := name
		if name == "by id" {
			key = a.ID
		}
		t.Run(name, func(t *testing.T) {
			config := account(s, name, "rotation_triggers = { quarter = \"1\" }")
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
				{
					Config:           account(s, name, "") + fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, key),
					ConfigPlanChecks: plans(plancheck.ResourceActionNoop),
					ConfigStateChecks: []statecheck.StateCheck{
						has("id", knownvalue.StringExact(a.ID)), has("token", knownvalue.Null()), has("token_last4", knownvalue.StringExact(a.TokenLast4)),
					},
				},
				// The first triggers after an import are only stored.
				{
					Config: config,
					ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
						plancheck.ExpectKnownValue(address, tfjsonpath.New("updated_at"), knownvalue.StringExact(a.UpdatedAt)),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("token"), knownvalue.Null()),
					),
				},
				{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateVerifyIgnore: []string{"rotation_triggers", "last_used_at"}},
				{Config: account(s, name, "rotation_triggers = { quarter = \"2\" }"), ConfigPlanChecks: plans(plancheck.ResourceActionReplace)},
			}})
		})
	}
}
