package mailbox_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

func TestDataSources(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		s.Domain(t, "example.org")
		jane := s.Mailbox(t, "bücher.com", "jane")
		s.Mailbox(t, "bücher.com", "john")
		s.Mailbox(t, "example.org", "mary")
		config := s.ProviderConfig() + fmt.Sprintf(`
data "mailhost_mailbox" "by_id" {
  id = %q
}
data "mailhost_mailbox" "by_address" {
  primary_email = "JANE@Bücher.com"
}
data "mailhost_mailboxes" "all" {}
data "mailhost_mailboxes" "of_domain" {
  domain = "Bücher.COM"
}
data "mailhost_mailboxes" "none" {
  domain = %q
  search = "mary"
  status = "active"
}
`, jane.ID, d.ID)
		found := func(name string, emails ...string) statecheck.StateCheck {
			var all []knownvalue.Check
			for _, email := range emails {
				all = append(all, knownvalue.ObjectPartial(map[string]knownvalue.Check{"primary_email": knownvalue.StringExact(email)}))
			}
			return statecheck.ExpectKnownValue("data.mailhost_mailboxes."+name, tfjsonpath.New("mailboxes"), knownvalue.ListExact(all))
		}
		var checks []statecheck.StateCheck
		for name, value := range map[string]knownvalue.Check{
			"id": knownvalue.StringExact(jane.ID), "primary_email": knownvalue.StringExact(jane.PrimaryEmail), "domain": knownvalue.StringExact(d.Name),
			"local_part": knownvalue.StringExact("jane"), "first_name": knownvalue.StringExact("Jane"), "domain_id": knownvalue.StringExact(d.ID),
			"workspace_id": knownvalue.StringExact(s.WorkspaceID), "status": knownvalue.StringExact(vocab.MailboxActive),
			"quota": knownvalue.ObjectExact(map[string]knownvalue.Check{"allowed": knownvalue.Int64Exact(jane.Quota.Allowed), "used": knownvalue.Int64Exact(0)}),
		} {
			for _, by := range []string{"by_id", "by_address"} {
				checks = append(checks, statecheck.ExpectKnownValue("data.mailhost_mailbox."+by, tfjsonpath.New(name), value))
			}
		}
		checks = append(checks, found("all", jane.PrimaryEmail, "john@"+d.Name, "mary@example.org"), found("of_domain", jane.PrimaryEmail, "john@"+d.Name), found("none"))
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: checks},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		}})
	})
}

// TestDataSourceOfNothing checks the warning about a domain that is not in the account. A
// domain without mailboxes causes none.
func TestDataSourceOfNothing(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		p := s.Protocol(t, "")
		_, diags := p.ReadData("mailhost_mailboxes", map[string]any{"domain": "exmaple.com"})
		p.NoErrors(diags)
		acctest.Expect(t, diags, `WARNING at AttributeName("domain"): The account has no domain exmaple.com`, "Check the spelling")
		for _, config := range []map[string]any{nil, {"domain": "example.com"}} {
			if _, diags = p.ReadData("mailhost_mailboxes", config); len(diags) > 0 {
				t.Errorf("%v: %s", config, acctest.Render(diags))
			}
		}
	})
}

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for name, c := range map[string]struct{ config, want string }{
		"missing":        {`data "mailhost_mailbox" "m" { primary_email = "nobody@example.com" }`, `(?s)Can't find the mailbox with primary_email\s+=\s+"nobody@example.com".*Check the`},
		"no argument":    {`data "mailhost_mailbox" "m" {}`, `(?s)id.*primary_email`},
		"both arguments": {"data \"mailhost_mailbox\" \"m\" {\n  id = \"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e\"\n  primary_email = \"a@example.com\"\n}", `(?s)primary_email`},
		"no address":     {`data "mailhost_mailbox" "m" { primary_email = "jane" }`, `primary_email must be`},
		"no status":      {`data "mailhost_mailboxes" "m" { status = "asleep" }`, `status must be one of provisioning`},
		"no workspace":   {`data "mailhost_mailboxes" "m" { workspace_id = "default" }`, `workspace_id must be`},
	} {
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: s.ProviderConfig() + c.config, ExpectError: regexp.MustCompile(c.want)}}})
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "bücher.com")
		s.Domain(t, "example.org")
		s.Mailbox(t, "bücher.com", "jane")
		s.Mailbox(t, "example.org", "mary")
		p := s.Protocol(t, "")
		for _, c := range map[string]struct {
			config map[string]any
			want   []string
		}{
			"all":    {nil, []string{"jane@xn--bcher-kva.com", "mary@example.org"}},
			"domain": {map[string]any{"domain": "Bücher.com"}, []string{"jane@xn--bcher-kva.com"}},
			"search": {map[string]any{"search": "mar", "status": "active", "workspace_id": s.WorkspaceID}, []string{"mary@example.org"}},
		} {
			p.ExpectListed(t, typeName, c.config, c.want...)
		}
		_, diags := p.List(typeName, map[string]any{"status": "asleep"}, 100)
		acctest.Expect(t, diags, `at AttributeName("status")`, "must be one of")
	})
}

// TestListStopsAtTheLimit counts the API's requests for a limited list.
func TestListStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for i := range 12 {
		s.Mailbox(t, "example.com", fmt.Sprintf("m%02d", i))
	}
	var pages, size atomic.Int64
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/mailboxes") {
			pages.Add(1)
			n, _ := strconv.ParseInt(r.URL.Query().Get("page_size"), 10, 64)
			size.Store(n)
			if r.URL.Query().Get("page") == "3" {
				acctest.Refuse(w, http.StatusForbidden, "body", "no more")
				return
			}
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 5)
	p.NoErrors(diags)
	if len(listed) != 5 || pages.Load() != 1 || size.Load() != 5 {
		t.Errorf("listed %d in %d pages of %d, want 5 in one of 5", len(listed), pages.Load(), size.Load())
	}
	listed, diags = p.List(typeName, nil, 0)
	p.NoErrors(diags)
	if len(listed) != 12 {
		t.Errorf("listed %d without a limit, want 12", len(listed))
	}
}

// TestListReportsFailure checks that a failure in the middle of a stream is reported.
func TestListReportsFailure(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for i := range 3 {
		s.Mailbox(t, "example.com", fmt.Sprintf("m%d", i))
	}
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		q := r.URL.Query()
		if q.Get("page") == "2" {
			acctest.Refuse(w, http.StatusForbidden, "body", "no more")
			return
		}
		if q.Has("page_size") {
			q.Set("page_size", "2")
			r.URL.RawQuery = q.Encode()
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 100)
	if len(listed) != 2 {
		t.Errorf("listed %d before the failure, want 2", len(listed))
	}
	acctest.Expect(t, diags, "ERROR: Can't list the mailboxes", "No more", "HTTP 403")
}
