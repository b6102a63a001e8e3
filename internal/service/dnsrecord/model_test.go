package dnsrecord

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

func TestFlatten(t *testing.T) {
	t.Parallel()
	var m model
	m.Name = customtype.New("WWW.Example.com.")
	m.Value = customtype.New("Mail.Example.net.")
	m.setZone(zone{id: "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", name: "example.com"})
	m.flatten(&api.DNSRecord{ID: 42, Name: "www", Type: "MX", Value: "mail.example.net", TTL: 300, Priority: new(int64(10))})
	for name, check := range map[string][2]string{
		"id":          {m.ID.ValueString(), "42"},
		"domain":      {m.Domain.ValueString(), "example.com"},
		"domain_id":   {m.DomainID.ValueString(), "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"},
		"domain_name": {m.DomainName.ValueString(), "example.com"},
		"name":        {m.Name.ValueString(), "WWW.Example.com."},
		"value":       {m.Value.ValueString(), "Mail.Example.net."},
		"fqdn":        {m.FQDN.ValueString(), "www.example.com"},
		"message":     {m.String(), "MX record WWW.Example.com. of example.com"},
	} {
		if check[0] != check[1] {
			t.Errorf("%s is %q; want %q", name, check[0], check[1])
		}
	}
	if m.TTL.ValueInt64() != 300 || m.Priority.ValueInt64() != 10 || m.IsSystemManaged.ValueBool() {
		t.Errorf("flattened %+v", m)
	}
	m.flatten(&api.DNSRecord{ID: 42, Name: "web", Type: "A", Value: "192.0.2.1", TTL: 300})
	if m.Name.ValueString() != "web" || m.Value.ValueString() != "192.0.2.1" || !m.Priority.IsNull() {
		t.Errorf("another value is not flattened: %+v", m)
	}
	m.setZone(zone{name: "example.net"})
	if m.Domain.ValueString() != "example.net" || !m.DomainID.IsNull() {
		t.Errorf("domain %s with the id %s", m.Domain, m.DomainID)
	}
}

func TestFQDN(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"@": "example.com", "www": "www.example.com", "*.dev": "*.dev.example.com", "a.b": "a.b.example.com",
		"www.example.com.": "www.example.com", "WWW": "www.example.com", "example.com": "example.com",
	} {
		if got := fqdn(name, "example.com"); got != want {
			t.Errorf("fqdn(%q) = %q; want %q", name, got, want)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	state := model{
		Value: customtype.New("mx.example.net"), TTL: types.Int64Value(300), Priority: types.Int64Value(10),
	}
	if got := expandUpdate(state, state); got != (api.UpdateDNSRecordBody{}) {
		t.Errorf("nothing changed, but %+v is sent", got)
	}
	plan := state
	plan.TTL = types.Int64Value(600)
	if diff := cmp.Diff(api.UpdateDNSRecordBody{TTL: new(int64(600))}, expandUpdate(plan, state)); diff != "" {
		t.Error(diff)
	}
	plan = state
	plan.Value, plan.Priority = customtype.New("mx2.example.net"), types.Int64Value(20)
	if diff := cmp.Diff(api.UpdateDNSRecordBody{Value: new("mx2.example.net"), Prio: new(int64(20))}, expandUpdate(plan, state)); diff != "" {
		t.Error(diff)
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]recordKey{
		"example.com/TXT/@":                              {"example.com", "TXT", "@", ""},
		"example.com/txt/@/":                             {"example.com", "TXT", "@", ""},
		"example.com/CAA/@/0 issue \"https://ca/a\"":     {"example.com", "CAA", "@", "0 issue \"https://ca/a\""},
		"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e/A/www/1.1": {"7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "A", "www", "1.1"},
	} {
		if got, err := parseKey(in); got != want || err != nil {
			t.Errorf("parseKey(%q) = %+v, %v; want %+v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"www.example.com": "expected <domain>/<type>/<name>", "example.com/www/A": "unsupported record type", "": "expected",
	} {
		if _, err := parseKey(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseKey(%q): %v; want %q", in, err, want)
		}
	}
}

func TestImportable(t *testing.T) {
	t.Parallel()
	system := api.DNSRecord{ID: 1, Type: "TXT", Value: "v=spf1 -all", IsSystemManaged: true}
	own, other := api.DNSRecord{ID: 2, Type: "TXT", Value: "a"}, api.DNSRecord{ID: 3, Type: "TXT", Value: "b"}
	key := recordKey{domain: "example.com", recordType: "TXT", name: "@"}
	if got, err := key.importable([]api.DNSRecord{system, own}); err != nil || got.ID != own.ID {
		t.Errorf("beside a system-managed record: %v, %v", got, err)
	}
	for want, found := range map[string][]api.DNSRecord{
		"there is no TXT record at @ of example.com": nil,
		"is system-managed":                          {system},
		`2 ("a"), 3 ("b")`:                           {own, other},
	} {
		if _, err := key.importable(found); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %v: %v; want %q", found, err, want)
		}
	}
}

func TestCanonicalID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"42": "42", "0042": "42", "9223372036854775807": "9223372036854775807"} {
		if got, ok := canonicalID(in); got != want || !ok {
			t.Errorf("canonicalID(%q) = %q, %t", in, got, ok)
		}
	}
	for _, in := range []string{"", "0", "-1", "www", "1.5", "9223372036854775808", "example.com/A/www"} {
		if _, ok := canonicalID(in); ok {
			t.Errorf("canonicalID(%q) accepts it", in)
		}
	}
}
