package serviceaccount_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// tokenProxy is a proxy that records the tokens in the server's responses, and those in the
// requests.
type tokenProxy struct {
	mu           sync.Mutex
	issued, used []string
}

func (j *tokenProxy) serve(t *testing.T, s *acctest.Server) (url string) {
	return s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.used = append(j.used, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		acctest.Rewrite(w, r, next, func(body string) string {
			var created api.CreatedServiceAccount
			if json.Unmarshal([]byte(body), &created) == nil && created.Token != "" {
				j.issued = append(j.issued, created.Token)
			}
			return body
		})
	})
}

// without returns an error if the text contains a token.
func (j *tokenProxy) without(what, text string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, token := range j.issued {
		if strings.Contains(text, token) {
			return fmt.Errorf("token %d of %d is in the %s", i+1, len(j.issued), what)
		}
	}
	return nil
}

// CheckPlan implements plancheck.PlanCheck: no token is in the plan.
func (j *tokenProxy) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	plan, err := json.Marshal(req.Plan)
	if err == nil {
		err = j.without("plan", string(plan))
	}
	resp.Error = err
}

// CheckState implements statecheck.StateCheck: no token is in the state.
func (j *tokenProxy) CheckState(_ context.Context, req statecheck.CheckStateRequest, resp *statecheck.CheckStateResponse) {
	state, err := json.Marshal(req.State)
	if err == nil {
		err = j.without("state", string(state))
	}
	resp.Error = err
}

// TestTokenForAnotherProvider uses the token in a second provider configuration. It is a
// separate provider here, because plugin-testing serves all configurations of a provider
// from one process, in which the last one wins.
func TestTokenForAnotherProvider(t *testing.T) {
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "example.com")
		var j tokenProxy
		url := j.serve(t, s)
		config := strings.ReplaceAll(s.ProviderConfig(), s.URL, url) + fmt.Sprintf(`
ephemeral "mailhost_service_account_token" "run" {
  name     = "nightly"
  lifetime = "10m"
}
provider "limited" {
  base_url   = %q
  account_id = %q
  token      = ephemeral.mailhost_service_account_token.run.token
}
resource "mailhost_mailbox" "jane" {
  provider   = limited
  domain     = "example.com"
  local_part = "jane"
  first_name = "Jane"
  last_name  = "Doe"
}
`, url, s.AccountID)
		acctest.Test(t, resource.TestCase{
			TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)}, // OpenTofu's first is 1.11
			ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){"limited": acctest.Providers()["mailhost"]},
			CheckDestroy: func(*terraform.State) error {
				j.mu.Lock()
				defer j.mu.Unlock()
				if left := living(t, s); len(left) > 0 && !s.PublishedOnly {
					return fmt.Errorf("of %d service accounts, %v are not revoked", len(j.issued), left)
				}
				// Each plan and each apply opens its own token.
				if len(j.issued) < 3 {
					return fmt.Errorf("%d tokens were opened, want one for each plan and apply", len(j.issued))
				}
				for i, token := range j.issued {
					if works(s, token) != s.PublishedOnly {
						return fmt.Errorf("token %d works: %t", i+1, !s.PublishedOnly)
					}
				}
				if !slices.ContainsFunc(j.issued, func(token string) bool { return slices.Contains(j.used, token) }) {
					return fmt.Errorf("none of the tokens was used")
				}
				return nil
			},
			Steps: []resource.TestStep{
				{
					Config:           config,
					ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{&j}},
					ConfigStateChecks: []statecheck.StateCheck{
						&j, statecheck.ExpectKnownValue("mailhost_mailbox.jane", tfjsonpath.New("domain_id"), knownvalue.StringExact(d.ID)),
					},
				},
				{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{&j, plancheck.ExpectEmptyPlan()}}},
			},
		})
	})
}
