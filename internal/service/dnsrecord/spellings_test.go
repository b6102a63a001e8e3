package dnsrecord_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// long is a text of more than one character-string.
var long = "v=DKIM1; k=rsa; p=" + strings.Repeat("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A", 20)

// spellings are two spellings of the same records.
var spellings = [2]map[string][5]string{
	{
		"txt":   {"Bücher.Com", "K1._domainkey", "TXT", long, ""},
		"quote": {"Bücher.Com", "quote.bücher.com.", "TXT", `"a\"b" "c;d"`, ""},
		"mx":    {"bücher.com.", "Sub.Bücher.com", "MX", "Mail.Example.NET.", "10"},
		"cname": {"bücher.com", "WWW", "CNAME", "Target.bücher.com", ""},
		"apex":  {"bücher.com", "@", "AAAA", "2001:DB8:0:0::1", ""},
		"srv":   {"bücher.com", "_imaps._tcp", "SRV", "0  993 Imap.example.net.", "5"},
		"caa":   {"bücher.com", "bücher.com.", "CAA", "0 ISSUE ca.example.net", ""},
		"wild":  {"bücher.com", "*.dev", "A", "192.0.2.1", ""},
	},
	{
		"txt":   {"xn--bcher-kva.com", "k1._domainkey.xn--bcher-kva.com.", "TXT", `"` + long[:255] + `" "` + long[255:] + `"`, ""},
		"quote": {"xn--bcher-kva.com", "quote", "TXT", `a"bc;d`, ""},
		"mx":    {"xn--bcher-kva.com", "sub", "MX", "mail.example.net", "10"},
		"cname": {"XN--bcher-kva.com", "www.bücher.com", "CNAME", "target.xn--bcher-kva.com.", ""},
		"apex":  {"xn--bcher-kva.com", "bücher.com", "AAAA", "2001:db8::1", ""},
		"srv":   {"xn--bcher-kva.com", "_IMAPS._tcp", "SRV", "0 993 imap.example.net", "5"},
		"caa":   {"xn--bcher-kva.com", "@", "CAA", `0 issue "ca.example.net"`, ""},
		"wild":  {"xn--bcher-kva.com", "*.DEV.bücher.com", "A", "192.0.2.1", ""},
	},
}

// configOf returns the configuration of a record.
func configOf(r [5]string) map[string]any {
	config := map[string]any{"domain": r[0], "name": r[1], "type": r[2], "value": r[3]}
	if priority := number(r[4]); priority != nil {
		config["priority"] = *priority
	}
	return config
}

// TestSpellings checks that the plans after a create and after an import are empty for any
// spelling, also if the API can't read records.
func TestSpellings(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.net")
		d := s.Domain(t, "bücher.com")
		p := s.Protocol(t, "")
		for label, r := range spellings[0] {
			made, diags := p.Walk().Apply(t.Context(), typeName, configOf(r), nil)
			p.NoErrors(diags)
			assert.Check(t, made.Text("value") == r[3] && made.Text("name") == r[1], "%s: the state has another spelling: %s", label, made.State)
			objects := []*acctest.Object{made}
			if !s.PublishedOnly {
				for _, id := range []string{made.Text("id"), strings.Join([]string{d.Name, r[2], r[1], r[3]}, "/")} {
					if label == "txt" && id != made.Text("id") {
						continue // it is too long for an id
					}
					imported, diags := p.Walk().Import(typeName, id, nil)
					p.NoErrors(diags)
					objects = append(objects, imported)
				}
			}
			byID := spellings[1][label]
			byID[0] = strings.ToUpper(d.ID)
			for _, o := range objects {
				o, diags := p.Walk().Read(typeName, o)
				p.NoErrors(diags)
				for _, spelling := range [][5]string{r, spellings[1][label], byID} {
					plan, diags := p.Plan(typeName, configOf(spelling), o)
					p.NoErrors(diags)
					assert.Check(t, plan.State.Equal(o.State) && len(plan.Replace) == 0, "%s, spelled %q: planned %s\nof %s", label, spelling, plan.State, o.State)
				}
			}
		}
	})
}

// TestList plans the configuration that Terraform generates for records with special
// characters.
func TestList(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.org")
	d := s.Domain(t, "bücher.com")
	create(t, s, "example.org", "www", "A", "192.0.2.1", "")
	for _, label := range []string{"txt", "quote", "mx", "cname", "apex", "srv", "caa", "wild"} {
		r := spellings[0][label]
		create(t, s, r[0], r[1], r[2], r[3], r[4])
	}
	create(t, s, d.ID, "_x", "TXT", `"\"quoted\" \\ %{if}"`, "")
	p := s.Protocol(t, "")
	listed, diags := p.List(typeName, nil, 100)
	p.NoErrors(diags)
	assert.Check(t, len(listed) == 10, "listed %d records, want those ten that are not system-managed", len(listed))
	for _, l := range listed {
		p.ExpectPlansNothing(t, typeName, l)
	}
}
