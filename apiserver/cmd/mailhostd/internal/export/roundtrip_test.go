package export_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/miekg/dns"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"
	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const (
	domain    = "example.com"
	accountID = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
)

// lists is an API that returns lists, by the last element of their path.
type lists map[string]any

func (l *lists) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	items := (*l)[path.Base(r.URL.Path)]
	switch {
	case strings.HasSuffix(r.URL.Path, "/authorizations"): // not paged
		fmt.Fprint(w, "[]")
		return
	case items == nil:
		items = []any{}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items, "total": 1, "default_workspace_id": "w"})
}

// serve starts an API, and returns the variables that direct commands to it.
func serve(t *testing.T, l *lists) (environ []string) {
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	return []string{"MAILHOST_BASE_URL=" + s.URL, "MAILHOST_ACCOUNT_ID=" + accountID, "MAILHOST_TOKEN=t"}
}

var (
	// anyText contains what HCL, zone files and Unicode treat in a special way.
	anyText = rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.SampledFrom([]rune("\"\\;$%{}~ '#/@()0159nu\t\u00a0üé\u0301\u212b\u2028\ufeff👋"))),
		rapid.Map(rapid.IntRange(250, 800), func(n int) string { return strings.Repeat(`ü"\`, n/4) }),
	)
	name = anyText.Filter(func(s string) bool { return s != "" && len(s) < 100 && text.CheckName(s) == nil })
	// label is no name of a built-in record.
	label = rapid.OneOf(rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?`), rapid.SampledFrom([]string{"in", "txt", "3600", "_dmarc", "*", "*.w", "_s._tcp"})).
		Filter(func(s string) bool { _, err := dnsdata.NormalizeName(s, domain); return err == nil })
	host  = rapid.StringMatching(`[a-z0-9]{1,9}\.example`)
	value = map[string]*rapid.Generator[string]{
		dnsdata.TypeA:     rapid.StringMatching(`192\.0\.2\.[1-9][0-9]`),
		dnsdata.TypeAAAA:  rapid.StringMatching(`2001:db8::[1-9a-f]{1,4}`),
		dnsdata.TypeCAA:   rapid.Map(anyText, func(s string) string { return "0 issue " + dnsdata.Quote(s) }),
		dnsdata.TypeCNAME: host,
		dnsdata.TypeMX:    rapid.OneOf(host, rapid.Just(".")),
		dnsdata.TypeNS:    host,
		dnsdata.TypeSRV: rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("1 %d %s", rapid.Uint16().Draw(t, "port"), host.Draw(t, "host"))
		}),
		dnsdata.TypeTXT: rapid.Map(anyText, dnsdata.Quote),
	}
)

// drawRecords returns records as the API stores them, of one type at each name.
func drawRecords(t *rapid.T) (records []api.DNSRecord) {
	for _, at := range rapid.SliceOfNDistinct(label, 1, 8, rapid.ID).Draw(t, "names") {
		recordType := rapid.SampledFrom([]string{dnsdata.TypeTXT, dnsdata.TypeTXT, dnsdata.TypeTXT, dnsdata.TypeA, dnsdata.TypeAAAA, dnsdata.TypeCAA, dnsdata.TypeCNAME, dnsdata.TypeMX, dnsdata.TypeNS, dnsdata.TypeSRV}).Draw(t, "type")
		most := 3
		if recordType == dnsdata.TypeCNAME {
			most = 1
		}
		if recordType == dnsdata.TypeNS { // BIND refuses a delegation of a wildcard, and hides the names below another one
			at = "ns" + strings.NewReplacer("*", "", ".", "", "_", "").Replace(at)
		}
		stored := value[recordType].Filter(func(s string) bool { _, err := dnsdata.NormalizeValue(recordType, s); return err == nil })
		for _, v := range rapid.SliceOfNDistinct(stored, 1, most, rapid.ID).Draw(t, "values") {
			r := api.DNSRecord{ID: 1, Name: at, Type: recordType, TTL: rapid.Int64Range(60, 86400).Draw(t, "ttl"), IsSystemManaged: rapid.Bool().Draw(t, "built-in")}
			r.Value, _ = dnsdata.NormalizeValue(recordType, v) // valid, by the filter
			if dnsdata.TypeNeedsPriority(recordType) {
				r.Priority = new(rapid.Int64Range(0, 65535).Draw(t, "priority"))
			}
			records = append(records, r)
		}
	}
	return records
}

// TestZoneFile checks that a zone file contains the records of the API, for the DNS library and for BIND. The
// records of one name and type have the lowest of their TTLs.
func TestZoneFile(t *testing.T) {
	t.Parallel()
	l := new(lists)
	environ := serve(t, l)
	bind, err := exec.LookPath("named-compilezone")
	if os.Getenv("MAILHOSTD_TEST_BIND") == "required" {
		assert.NilError(t, err)
	} else if err != nil {
		t.Log("not tested with BIND: named-compilezone is not on PATH")
	}
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		*l = lists{"dns-records": records}
		code, file, stderr := mailhostdtest.RunWith(t, environ, "export", "--zone", domain)
		assert.Assert(rt, code == cli.ExitOK, stderr)
		ttls, want := map[string]int64{}, []string{}
		for _, r := range records {
			ttls[r.Name] = min(cmp.Or(ttls[r.Name], r.TTL), r.TTL)
		}
		for _, r := range records {
			want = append(want, fmt.Sprintln(r.Name, ttls[r.Name], r.Type, priorityOf(r), r.Value))
		}
		slices.Sort(want)
		assert.DeepEqual(rt, parseZone(rt, file), want)
		refused := slices.ContainsFunc(records, func(r api.DNSRecord) bool {
			return strings.Contains(r.Name, "_") && slices.Contains([]string{dnsdata.TypeA, dnsdata.TypeAAAA, dnsdata.TypeMX}, r.Type)
		})
		assert.Equal(rt, strings.Contains(file, "check-names ignore"), refused)
		if bind != "" {
			// Not checked: underscores, and the addresses of hosts.
			cmd := exec.CommandContext(t.Context(), bind, "-q", "-k", "ignore", "-i", "none", "-o", "-", domain, "-")
			cmd.Stdin = strings.NewReader(file)
			compiled, err := cmd.CombinedOutput()
			assert.NilError(rt, err, "%s\n%s", file, compiled)
			assert.DeepEqual(rt, parseZone(rt, string(compiled)), want)
		}
	})
}

// TestZoneFileOfStranger checks the message for a domain that is not in the account.
func TestZoneFileOfStranger(t *testing.T) {
	t.Parallel()
	_, _, stderr := mailhostdtest.RunWith(t, serve(t, new(lists)), "export", "--zone", domain)
	assert.Check(t, strings.Contains(stderr, "example.com is not a domain of the account"), stderr)
}

func priorityOf(r api.DNSRecord) int64 {
	if r.Priority == nil {
		return -1
	}
	return *r.Priority
}

// parseZone returns the records of a zone file in canonical form, without the placeholders.
func parseZone(t *rapid.T, file string) (records []string) {
	parser := dns.NewZoneParser(strings.NewReader(file), "", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		h := rr.Header()
		if h.Name == domain+"." && (h.Rrtype == dns.TypeSOA || h.Rrtype == dns.TypeNS) {
			continue
		}
		recordType := dns.Type(h.Rrtype).String()
		at, err := dnsdata.NormalizeName(h.Name, domain)
		assert.NilError(t, err)
		priority, value, err := dnsdata.ParseRDATA(recordType, strings.TrimPrefix(rr.String(), h.String()))
		assert.NilError(t, err)
		records = append(records, fmt.Sprintln(at, h.Ttl, recordType, priority, value))
	}
	assert.NilError(t, parser.Err(), file)
	slices.Sort(records)
	return records
}

// TestConfigurationKeepsText checks that Terraform reads each text of an account back from the configuration.
func TestConfigurationKeepsText(t *testing.T) {
	t.Parallel()
	l, folder := new(lists), filepath.Join(t.TempDir(), "account")
	environ := serve(t, l)
	rapid.Check(t, func(rt *rapid.T) {
		first, last, workspace, password, token := name.Draw(rt, "first name"), name.Draw(rt, "last name"), name.Draw(rt, "workspace"), name.Draw(rt, "password"), name.Draw(rt, "token")
		redirect := "https://example.org/?" + rapid.StringMatching(`[a-z${}%25'#;]*`).Draw(rt, "redirect")
		records := drawRecords(rt)
		*l = lists{
			"dns-records":      records,
			"domains":          []api.Domain{{ID: "d", Name: domain, WorkspaceID: "sales", RedirectURL: &redirect}},
			"mailboxes":        []api.Mailbox{{DomainID: "d", LocalPart: "o'neil", FirstName: first, LastName: last}},
			"workspaces":       []api.Workspace{{ID: "sales", Name: workspace}},
			"credentials":      []api.MasterPassword{{ID: "p", Name: password, ScopeType: vocab.ScopeWorkspace, ScopeID: "sales"}},
			"service-accounts": []api.ServiceAccount{{ID: "s", Name: token, TokenPublicID: "public"}},
		}
		code, _, stderr := mailhostdtest.RunWith(t, environ, "export", "--hcl", folder, "--overwrite")
		assert.Assert(rt, code == cli.ExitOK, stderr)
		c := readConfiguration(rt, folder)

		d, s := c["mailhost_domain"], c["mailhost_mailbox_set"]
		assert.Check(rt, d["workspace_id"].AsString() == "sales" && d["redirect_url"].AsString() == redirect)
		jane := s["mailboxes"].AsValueMap()["o'neil"].AsValueMap()
		for got, want := range map[string]string{
			jane["first_name"].AsString(): first, jane["last_name"].AsString(): last,
			c["mailhost_master_password"]["name"].AsString(): password, c["mailhost_service_account"]["name"].AsString(): token,
		} {
			assert.Check(rt, got == norm.NFC.String(want), "%q became %q", want, got)
		}
		got, want := []string{}, []string{}
		zone := map[string]cty.Value{}
		if c["mailhost_dns_zone"] != nil { // the account has records of its own
			zone = c["mailhost_dns_zone"]["records"].AsValueMap()
		}
		for key, entry := range zone {
			at, recordType, _ := strings.Cut(key, " ")
			for _, v := range entry.GetAttr("values").AsValueSlice() {
				priority, value, err := dnsdata.ParseRDATA(recordType, v.AsString())
				assert.NilError(rt, err)
				got = append(got, fmt.Sprintln(at, recordType, priority, value))
			}
		}
		for _, r := range records {
			if !r.IsSystemManaged {
				want = append(want, fmt.Sprintln(r.Name, r.Type, priorityOf(r), r.Value))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		assert.DeepEqual(rt, got, want)
	})
}

// readConfiguration returns the attributes of the resources in a folder by type, and checks that each is imported.
func readConfiguration(t *rapid.T, folder string) map[string]map[string]cty.Value {
	files, err := filepath.Glob(filepath.Join(folder, "*.tf"))
	assert.NilError(t, err)
	parser, imported, labels := hclparse.NewParser(), map[string]bool{}, []string{}
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}}
	var resources []*hclsyntax.Block
	for _, name := range files {
		file, diags := parser.ParseHCLFile(name)
		assert.Assert(t, !diags.HasErrors(), "%s", diags)
		for _, block := range file.Body.(*hclsyntax.Body).Blocks {
			switch block.Type {
			case "locals":
				value, diags := block.Body.Attributes["workspaces"].Expr.Value(nil)
				assert.Assert(t, !diags.HasErrors(), "%s", diags)
				ctx.Variables["local"] = cty.ObjectVal(map[string]cty.Value{"workspaces": value})
			case "import":
				to := block.Body.Attributes["to"].Expr.Variables()[0]
				imported[to.RootName()+"."+to[1].(hcl.TraverseAttr).Name] = true
			case "resource":
				resources = append(resources, block)
				labels = append(labels, strings.Join(block.Labels, "."))
				ctx.Variables[block.Labels[0]] = cty.DynamicVal
			}
		}
	}
	c := map[string]map[string]cty.Value{}
	for i, block := range resources {
		assert.Check(t, imported[labels[i]], "%s is not imported", labels[i])
		c[block.Labels[0]] = map[string]cty.Value{}
		for name, a := range block.Body.Attributes {
			value, diags := a.Expr.Value(ctx)
			assert.Assert(t, !diags.HasErrors(), "%s", diags)
			c[block.Labels[0]][name] = value
		}
	}
	return c
}
