package account_test

import (
	"encoding/json"
	"net/http"
	"strings"
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

const typeName = "mailhost_account"

func TestDataSource(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		w := s.Workspace(t, "Sales")
		is := func(name string, value knownvalue.Check) statecheck.StateCheck {
			if s.PublishedOnly && name != "id" && name != "default_workspace_id" {
				value = knownvalue.Null()
			}
			return statecheck.ExpectKnownValue("data.mailhost_account.this", tfjsonpath.New(name), value)
		}
		workspace := func(id, name string) knownvalue.Check {
			return knownvalue.ObjectExact(map[string]knownvalue.Check{"id": knownvalue.StringExact(id), "name": knownvalue.StringExact(name)})
		}
		config := s.ProviderConfig() + `data "mailhost_account" "this" {}`
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{
				is("id", knownvalue.StringExact(s.AccountID)),
				is("default_workspace_id", knownvalue.StringExact(s.WorkspaceID)),
				is("status", knownvalue.StringExact(vocab.AccountActive)),
				is("plan_id", knownvalue.StringExact(vocab.PlanSMTPPerMailbox)),
				is("cancels_at", knownvalue.Null()),
				is("created_at", knownvalue.NotNull()),
				is("updated_at", knownvalue.NotNull()),
				is("workspaces", knownvalue.ListExact([]knownvalue.Check{workspace(s.WorkspaceID, "Default"), workspace(w.ID, "Sales")})),
			}},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		}})
	})
}

// TestPublishedOnly checks the warning in the diagnostics, because a CLI only prints it.
func TestPublishedOnly(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	account, diags := s.Protocol(t, "").ReadData(typeName, nil)
	acctest.Expect(t, diags, "can't be read", "id and default_workspace_id; everything else is null")
	if account.Text("id") != s.AccountID || account.Text("default_workspace_id") != s.WorkspaceID || account.Text("status") != "" {
		t.Errorf("read %s", account.State)
	}
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
