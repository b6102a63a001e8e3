package billing_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestTriggered checks that the CLI invokes both actions when a trigger fires, also the
// second time.
func TestTriggered(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		config := func(firstName string) string {
			return s.ProviderConfig() + fmt.Sprintf(`
resource "mailhost_mailbox" "jane" {
  domain     = "example.com"
  local_part = "jane"
  first_name = %q
  last_name  = "Doe"
  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.mailhost_change_plan.proxy, action.mailhost_cancel_plan.end]
    }
  }
}
action "mailhost_change_plan" "proxy" {
  config {
    confirm_account_id = %[2]q
    plan_id            = "smtp_per_proxy"
  }
}
action "mailhost_cancel_plan" "end" {
  config {
    confirm_account_id = %[2]q
  }
}
`, firstName, s.AccountID)
		}
		done := func(*terraform.State) error {
			a, err := s.Client.GetAccount(t.Context())
			if err == nil && (a.Status != vocab.AccountPendingCancellation || a.PlanID != vocab.PlanSMTPPerProxy) {
				err = fmt.Errorf("the account is %s on %s", a.Status, a.PlanID)
			}
			return err
		}
		acctest.Test(t, resource.TestCase{
			TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_14_0)},
			Steps: []resource.TestStep{
				{Config: config("Jane"), Check: done},
				{Config: config("Janet"), Check: done},
			},
		})
	})
}
