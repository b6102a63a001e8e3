package account_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_account"

// TestDataSource checks that the published operations leave all but the ids null, with a
// warning.
func TestDataSource(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		sales := s.Workspace(t, "Sales")
		account, diags := s.Protocol(t, "").ReadData(typeName, nil)
		if account.Text("id") != s.AccountID || account.Text("default_workspace_id") != s.WorkspaceID || !account.Null("cancels_at") {
			t.Errorf("read %s", account.State)
		}
		if s.PublishedOnly {
			acctest.Expect(t, diags, "can't be read", "id and default_workspace_id; everything else is null")
			for _, name := range []string{"status", "plan_id", "created_at", "updated_at", "workspaces"} {
				if !account.Null(name) {
					t.Errorf("%s is not null: %s", name, account.State)
				}
			}
			return
		}
		if len(diags) > 0 || account.Text("status") != vocab.AccountActive || account.Text("plan_id") != vocab.PlanSMTPPerMailbox || account.Null("created_at") || account.Null("updated_at") {
			t.Errorf("read %s\n%s", account.State, acctest.Render(diags))
		}
		acctest.ExpectText(t, account.State.String(), `"id":tftypes.String<"`+s.WorkspaceID+`">, "name":tftypes.String<"Default">`, `"id":tftypes.String<"`+sales.ID+`">, "name":tftypes.String<"Sales">`)
	})
}

// TestPendingCancellation checks that an account with a pending cancellation is readable.
func TestPendingCancellation(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	cancelled, err := s.Client.CancelPlan(t.Context(), api.CancelPlanBody{})
	if err != nil {
		t.Fatal(err)
	}
	account, diags := s.Protocol(t, "").ReadData(typeName, nil)
	if len(diags) > 0 || account.Text("status") != vocab.AccountPendingCancellation || account.Text("cancels_at") != *cancelled.EffectiveAt {
		t.Errorf("read %s\n%s", account.State, acctest.Render(diags))
	}
}

// TestWorkspacesOnce checks that each workspace is listed once, even if a new workspace
// shifts one from the first page to the second during the iteration.
func TestWorkspacesOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for _, name := range []string{"Sales", "Support"} {
		s.Workspace(t, name)
	}
	var sales api.Workspace
	url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		q := r.URL.Query()
		if !q.Has("page_size") {
			next.ServeHTTP(w, r)
			return
		}
		q.Set("page_size", "2")
		r.URL.RawQuery = q.Encode()
		acctest.Rewrite(w, r, next, func(body string) string {
			var page api.Page[api.Workspace]
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Error(err)
			}
			switch {
			case q.Get("page") == "1":
				sales = page.Items[1]
			case sales.ID != "":
				page.Items = append([]api.Workspace{sales}, page.Items...)
				sales = api.Workspace{}
			}
			edited, _ := json.Marshal(page)
			return string(edited)
		})
	})
	account, diags := s.Protocol(t, url).ReadData(typeName, nil)
	for _, name := range []string{"Default", "Sales", "Support"} {
		if n := strings.Count(account.State.String(), `"`+name+`"`); n != 1 {
			t.Errorf("%s is there %d times: %s\n%s", name, n, account.State, acctest.Render(diags))
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for part, want := range map[string]string{"": "ERROR: Can't read the account " + s.AccountID, "/workspaces": "ERROR: Can't list the workspaces of the account " + s.AccountID} {
		url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if strings.HasSuffix(r.URL.Path, s.AccountID+part) {
				acctest.Refuse(w, http.StatusForbidden, "header.authorization", "the credential lacks the capability")
				return
			}
			next.ServeHTTP(w, r)
		})
		_, diags := s.Protocol(t, url).ReadData(typeName, nil)
		acctest.Expect(t, diags, want, "The credential lacks the capability", "HTTP 403, request id refused-by-test")
	}
}
