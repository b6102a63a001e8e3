package mailbox_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const exportType = "mailhost_mailbox_export"

// addressesOf returns the addresses in an export.
func addressesOf(text string) ([]string, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%q is no export: %v", text, err)
	}
	at := slices.Index(rows[0], "primary_email")
	addresses := []string{}
	for _, row := range rows[1:] {
		addresses = append(addresses, row[at])
	}
	return addresses, nil
}

// exported checks the addresses in an export, and that it conforms to RFC 4180.
func exported(want ...string) knownvalue.Check {
	return knownvalue.StringFunc(func(text string) error {
		got, err := addressesOf(text)
		switch {
		case err != nil:
			return err
		case !slices.Equal(got, want):
			return fmt.Errorf("exported %v, want %v", got, want)
		case !strings.HasSuffix(text, "\r\n"):
			return fmt.Errorf("%q is not the API's text", text)
		}
		return nil
	})
}

func TestExport(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		s.Domain(t, "example.org")
		jane := s.Mailbox(t, "bücher.com", "jane")
		john := s.Mailbox(t, "bücher.com", "john")
		mary := s.Mailbox(t, "example.org", "mary")
		config := s.ProviderConfig() + fmt.Sprintf(`
data "mailhost_mailbox_export" "all" {}
data "mailhost_mailbox_export" "domain" {
  domain = "Bücher.COM"
}
data "mailhost_mailbox_export" "some" {
  mailboxes = ["Mary@Example.org", %q]
}
data "mailhost_mailbox_export" "both" {
  domain    = %q
  mailboxes = [%q]
}
data "mailhost_mailbox_export" "none" {
  mailboxes = []
}
output "names" {
  value = csvdecode(data.mailhost_mailbox_export.some.csv)[*].first_name
}
`, jane.ID, d.ID, john.ID)
		is := func(name string, want ...*api.Mailbox) statecheck.StateCheck {
			addresses := []string{}
			for _, m := range want {
				addresses = append(addresses, m.PrimaryEmail)
			}
			return statecheck.ExpectKnownValue("data.mailhost_mailbox_export."+name, tfjsonpath.New("csv"), exported(addresses...))
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{Config: config, ConfigStateChecks: []statecheck.StateCheck{
				is("all", jane, john, mary), is("domain", jane, john), is("some", jane, mary), is("both", john), is("none"),
				statecheck.ExpectKnownOutputValue("names", knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("Jane"), knownvalue.StringExact("Jane")})),
			}},
			{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		}})
	})
}

// exporters are the data source and the action, which share the export.
var exporters = map[string]func(p *acctest.Protocol, t *testing.T, config map[string]any) string{
	"data source": func(p *acctest.Protocol, _ *testing.T, config map[string]any) string {
		_, diags := p.ReadData(exportType, config)
		return acctest.Render(diags)
	},
	"action": func(p *acctest.Protocol, t *testing.T, config map[string]any) string {
		config["path"] = t.TempDir() + "/mailboxes.csv"
		_, diags := p.Invoke(exportAction, config)
		return acctest.Render(diags)
	},
}

// TestExportUnknown checks that each unknown domain or workspace is reported at its
// attribute, all at once.
func TestExportUnknown(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		s.Mailbox(t, "example.com", "jane")
		for name, export := range exporters {
			t.Run(name, func(t *testing.T) {
				got := export(s.Protocol(t, ""), t, map[string]any{
					"domain": "example.net", "mailboxes": []string{"jane@example.com", "nobody@example.com", "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"},
				})
				for _, want := range []string{
					`ERROR at AttributeName("domain"): Can't export the mailboxes`,
					`ERROR at AttributeName("mailboxes").ElementKeyInt(1): Can't export the mailboxes`, `"nobody@example.com"`,
					`ERROR at AttributeName("mailboxes").ElementKeyInt(2): Can't export the mailboxes`,
					"(The API responded to export-mailboxes with HTTP 422, request id ", "correct the value",
				} {
					if !strings.Contains(got, want) {
						t.Errorf("%q is missing in:\n%s", want, got)
					}
				}
			})
		}
	})
}

// TestExportBreaksOff checks the error about an incomplete response.
func TestExportBreaksOff(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	url := s.Front(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		_, _ = io.WriteString(w, "id,primary_email\r\n1,jane@exam")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for name, export := range exporters {
		t.Run(name, func(t *testing.T) {
			got := export(s.Protocol(t, url), t, map[string]any{})
			if !strings.Contains(got, "ERROR: Can't export the mailboxes\nThe API's response is incomplete: ") {
				t.Error(got)
			}
		})
	}
}

// rows serves an export with this number of generated mailboxes.
func rows(t *testing.T, s *acctest.Server, n int) string {
	t.Helper()
	return s.Front(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		_, _ = io.WriteString(w, "id,primary_email,first_name\r\n")
		for i := range n {
			_, _ = fmt.Fprintf(w, "%d,m%d@example.com,\"%s\"\r\n", i, i, strings.Repeat("\"\"longer ", 12))
		}
	})
}

func TestExportTooLarge(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	_, diags := s.Protocol(t, rows(t, s, 80_000)).ReadData(exportType, nil)
	acctest.Expect(t, diags, "ERROR: The export is too large for a data source", "more than 8 MiB", "the action mailhost_export_mailboxes")
}
