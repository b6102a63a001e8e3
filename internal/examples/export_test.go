package examples_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/zonefile"
)

// TestAccExportOfAnyText exports an account with texts that HCL, zone files or Unicode treat in a special way. The
// plan of the folder only imports, and parse_zone reads the same records from the zone file.
func TestAccExportOfAnyText(t *testing.T) {
	w := newWorkspace(t)
	texts := []string{
		`"MS=ms123"`, `"`, `  "x"`, ` v=spf9  `, `a;b\c\;\040`, `p=AAAA""BBBB`, `${x} %{y} $${z} %%{z} $$$`, `~} \u0041 \n`,
		"ü👋", "u\u0308 \u212b", "\u2028\ufeff", strings.Repeat(`ü"\`, 200), "'", "“x”", "#//*",
	}
	var records []map[string]any
	for i, text := range texts {
		quoted, _ := json.Marshal(text) // escapes as in a zone file, because it writes no escape but \" and \\ here
		if !strings.HasPrefix(strings.TrimSpace(text), `"`) {
			quoted = []byte(text)
		}
		records = append(records, map[string]any{"name": fmt.Sprintf("t%d", i/2), "type": "TXT", "value": string(quoted)})
	}
	records = append(records,
		map[string]any{"name": "@", "type": "CAA", "value": `0 issue "ca.example; a=\"${b}\""`},
		map[string]any{"name": "_s._tcp", "type": "SRV", "value": "0 0 .", "priority": 7},
		map[string]any{"name": "*", "type": "MX", "value": "mx.bücher.example", "priority": 10, "ttl": 60})
	const nasty = `O'"${x}" %{y} \n ü`
	fixture, err := json.Marshal(map[string]any{"accounts": []any{map[string]any{
		"id":         "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10",
		"workspaces": []any{map[string]any{"name": nasty, "forwarding": []any{map[string]any{"target_email": "o'neil/${x}@example.com"}}}},
		"domains": []any{map[string]any{
			"name": "example.com", "workspace": nasty, "redirect_url": "https://example.org/?q=%7B$%7B&$[x]", "dns_records": records,
			"mailboxes": []any{map[string]any{"local_part": "o'neil/${x}", "first_name": nasty, "last_name": "u\u0308\u212b%{"}},
		}},
	}}})
	assert.NilError(t, err)
	w.write(t, "fixture.json", string(fixture))
	database := filepath.Join(w.dir, ".mailhost", "mailhost.db")
	assert.NilError(t, os.Mkdir(filepath.Dir(database), 0o700))
	w.set("MAILHOST_DATA_DIR", filepath.Dir(database))
	w.set("MAILHOSTD_DATABASE", database)
	mailhostd := func(args ...string) string {
		t.Helper()
		out, code := w.command(t, mailhostd(), args...)
		assert.Assert(t, code == 0, "mailhostd %v ended with %d:\n%s", args, code, out)
		return out
	}
	mailhostd("fixture", "load", "fixture.json")
	mailhostd("call", "create-master-password", "name="+nasty, "value=secret12345")
	mailhostd("token", "create", nasty, "--plan-only")

	read, err := zonefile.Parse(mailhostd("export", "--zone", "example.com"), "example.com")
	assert.NilError(t, err)
	var got, want []string
	for key, set := range read {
		for _, value := range set.Values {
			got = append(got, fmt.Sprintln(key, set.TTL, value))
		}
	}
	var listed struct {
		Items []struct {
			Name, Type, Value string
			TTL               int64
			Priority          *int64
		}
	}
	assert.NilError(t, json.Unmarshal([]byte(mailhostd("call", "list-dns-records", "page_size=100")), &listed))
	for _, r := range listed.Items {
		if r.Priority != nil {
			r.Value = fmt.Sprintf("%d %s", *r.Priority, r.Value)
		}
		want = append(want, fmt.Sprintln(r.Name, r.Type, r.TTL, r.Value))
	}
	slices.Sort(got)
	slices.Sort(want)
	assert.Check(t, is.DeepEqual(got, want), "parse_zone reads other records from the zone file")

	mailhostd("export", "--hcl", "account")
	w.dir = filepath.Join(w.dir, "account")
	w.must(t, "fmt", "-check")
	w.must(t, "init")
	out := w.must(t, "plan")
	assert.Check(t, is.Contains(out, " to import, 0 to add, 0 to change, 0 to destroy."))
	w.must(t, "apply", "-auto-approve")
	w.planIsEmpty(t)
}
