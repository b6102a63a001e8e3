package dnszone_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestEncodedText checks that a plan warns about new texts with another program's encoding, once for each
// name, and only while they are new.
func TestEncodedText(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	exist(t, s, contents{`old TXT 'old'`: 3600})
	p := s.Protocol(t, "")
	records := map[string]any{
		"old TXT": entry(`'old'`), "key._domainkey TXT": entry(`v=DKIM1\; p=AAAA`), "@ TXT": entry("v=spf1 -all", `“a”`, `&quot;b&quot;`), "www CNAME": entry("a.example"),
	}
	plan := func(config map[string]any, o *acctest.Object, names ...string) {
		t.Helper()
		_, diags := p.Walk().Plan(typeName, config, o)
		p.NoErrors(diags)
		text := acctest.Render(diags)
		for _, name := range names {
			assert.Check(t, is.Contains(text, ": The TXT record "+name+" seems to be encoded\n"))
		}
		assert.Check(t, is.Equal(strings.Count(text, "seems to be encoded"), len(names)), text)
	}
	unknown := zoneOf(records)
	unknown["domain"] = acctest.Unknown
	missing := zoneOf(records)
	missing["domain"] = "missing.com"
	plan(zoneOf(records), nil, "key._domainkey of example.com", "@ of example.com")
	plan(unknown, nil, "key._domainkey", "@", "old")
	plan(missing, nil, "key._domainkey of missing.com", "@ of missing.com", "old of missing.com")
	o, diags := p.Apply(t.Context(), typeName, zoneOf(records), nil)
	p.NoErrors(diags)
	plan(zoneOf(records), o)
	records["@ TXT"] = entry("v=spf1 -all", `“a”`, `«b»`)
	plan(zoneOf(records), o, "@ of example.com")
	moved := zoneOf(records)
	s.Domain(t, "example.org")
	moved["domain"] = "example.org"
	plan(moved, o, "key._domainkey of example.org", "@ of example.org", "old of example.org")
}
