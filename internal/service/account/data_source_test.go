package account_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestDataSource checks that the published operations leave all but the ids null, with a
// warning.
func TestDataSource(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		sales := s.Owner(t).Workspace("Sales")
		account, diags := s.Protocol(t, "").ReadData("mailhost_account", nil)
		assert.Check(t, account.Text("id") == s.AccountID && account.Text("default_workspace_id") == s.WorkspaceID && account.Null("cancels_at"), "read %s", account.State)
		if s.PublishedOnly {
			acctest.Expect(t, diags, "can't be read", "id and default_workspace_id; everything else is null")
			for _, name := range []string{"status", "plan_id", "created_at", "updated_at", "workspaces"} {
				assert.Check(t, account.Null(name), "%s is not null: %s", name, account.State)
			}
			return
		}
		if len(diags) > 0 || account.Text("status") != vocab.AccountActive || account.Text("plan_id") != vocab.PlanSMTPPerMailbox || account.Null("created_at") || account.Null("updated_at") {
			t.Errorf("read %s\n%s", account.State, acctest.Render(diags))
		}
		acctest.ExpectText(t, account.State.String(), `"id":tftypes.String<"`+s.WorkspaceID+`">, "name":tftypes.String<"Default">`, `"id":tftypes.String<"`+sales+`">, "name":tftypes.String<"Sales">`)
	})
}
