package mailbox_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/mailbox"
)

const exportType = "mailhost_mailbox_export"

// TestExport exports with the data source and with the action, and checks that the text equals the
// API's response, which conforms to RFC 4180.
func TestExport(t *testing.T) {
	t.Parallel()
	var described datasource.SchemaResponse
	mailbox.NewExport().Schema(t.Context(), datasource.SchemaRequest{}, &described)
	description := described.Schema.Attributes["csv"].GetMarkdownDescription()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		s.Domain(t, "example.org")
		jane, john, mary := s.Mailbox(t, "bücher.com", "jane"), s.Mailbox(t, "bücher.com", "john"), s.Mailbox(t, "example.org", "mary")
		p := s.Protocol(t, "")
		path := filepath.Join(t.TempDir(), "mailboxes.csv")
		write(t, path, "something else")
		for _, c := range []struct {
			config map[string]any
			want   []*api.Mailbox
		}{
			{map[string]any{}, []*api.Mailbox{jane, john, mary}},
			{map[string]any{"domain": "Bücher.COM"}, []*api.Mailbox{jane, john}},
			{map[string]any{"mailboxes": []string{"Mary@Example.org", jane.ID}}, []*api.Mailbox{jane, mary}},
			{map[string]any{"domain": d.ID, "mailboxes": []string{john.ID}}, []*api.Mailbox{john}},
			{map[string]any{"mailboxes": []string{}}, nil},
		} {
			o, diags := p.ReadData(exportType, c.config)
			p.NoErrors(diags)
			c.config["path"] = path
			progress, diags := p.Invoke(exportAction, c.config)
			p.NoErrors(diags)
			acctest.ExpectText(t, strings.Join(progress, "\n"), fmt.Sprintf("Wrote %d mailbox", len(c.want)), " to "+path+" (")
			only(t, path, o.Text("csv"))
			info, err := os.Stat(path)
			assert.Check(t, err == nil && (runtime.GOOS == "windows" || info.Mode().Perm() == 0o600), "%v: the file's mode is %v, %v", c.config, info.Mode(), err)
			rows, err := csv.NewReader(strings.NewReader(o.Text("csv"))).ReadAll()
			assert.Assert(t, err == nil && strings.HasSuffix(o.Text("csv"), "\r\n") && len(rows) == len(c.want)+1, "%v: %q is no export: %v", c.config, rows, err)
			for _, column := range rows[0] {
				assert.Check(t, strings.Contains(description, column), "the description of csv in export.go does not name the column %s", column)
			}
			for i, m := range c.want {
				assert.Check(t, is.Equal(rows[i+1][slices.Index(rows[0], "primary_email")], m.PrimaryEmail), "%v: exported", c.config)
			}
		}
	})
}

// exporters are the data source and the action, which share the export. A failed action leaves no
// file.
var exporters = map[string]func(p *acctest.Protocol, t *testing.T, config map[string]any) string{
	"data source": func(p *acctest.Protocol, _ *testing.T, config map[string]any) string {
		_, diags := p.ReadData(exportType, config)
		return acctest.Render(diags)
	},
	"action": func(p *acctest.Protocol, t *testing.T, config map[string]any) string {
		dir := t.TempDir()
		config["path"] = dir + "/mailboxes.csv"
		_, diags := p.Invoke(exportAction, config)
		files, err := os.ReadDir(dir)
		assert.Check(t, err == nil && len(files) == 0, "the directory has %v, %v", files, err)
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
				if text := export(s.Protocol(t, ""), t, map[string]any{"mailboxes": []string{"jane"}}); !strings.Contains(text, "it is no UUID, and as an address: ") {
					t.Error(text)
				}
				for _, want := range []string{
					`ERROR at AttributeName("domain"): Can't export the mailboxes`,
					`ERROR at AttributeName("mailboxes").ElementKeyInt(1): Can't export the mailboxes`, `"nobody@example.com"`,
					`ERROR at AttributeName("mailboxes").ElementKeyInt(2): Can't export the mailboxes`,
					"(The API responded to export-mailboxes with HTTP 422, request id ", "correct the value",
				} {
					assert.Check(t, strings.Contains(got, want), "%q is missing in:\n%s", want, got)
				}
			})
		}
	})
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
