package dnsrecord_test

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// create creates a record outside Terraform.
func create(t *testing.T, s *acctest.Server, domain, name, recordType, value, priority string) *api.DNSRecord {
	t.Helper()
	r, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: domain, Name: name, Type: recordType, Value: value, Prio: number(priority)})
	must(t, err)
	return r
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
	const wild = "*.dev.xn--bcher-kva.com A 192.0.2.1"
	for _, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"name":   {map[string]any{"name": "www"}, []string{"www.example.org A 192.0.2.1", "www.xn--bcher-kva.com CNAME target.xn--bcher-kva.com"}},
		"domain": {map[string]any{"domain": d.ID, "type": "A"}, []string{wild}},
		"type":   {map[string]any{"type": "A"}, []string{"www.example.org A 192.0.2.1", wild}},
		"MX":     {map[string]any{"type": "MX"}, []string{"sub.xn--bcher-kva.com MX 10 mail.example.net"}},
		"none":   {map[string]any{"domain": "example.com"}, nil},
	} {
		p.ExpectListed(t, typeName, c.config, c.want...)
	}
	listed, diags := p.List(typeName, nil, 100)
	p.NoErrors(diags)
	if len(listed) != 10 {
		t.Errorf("listed %d records, want those ten that are not system-managed", len(listed))
	}
	for _, l := range listed {
		p.ExpectPlansNothing(t, typeName, l)
	}
	_, diags = p.List(typeName, map[string]any{"type": "mx"}, 100)
	acctest.Expect(t, diags, `at AttributeName("type")`, "must be one of")
}
