package dnsrecord_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

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

func TestDataSources(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "bücher.com")
	s.Domain(t, "example.org")
	mx := create(t, s, d.ID, "sub", "MX", "mx1.example.net", "10")
	create(t, s, d.ID, "sub", "MX", "mx2.example.net", "20")
	create(t, s, "example.org", "www", "A", "192.0.2.1", "")
	create(t, s, d.ID, "www", "A", "192.0.2.2", "")
	config := s.ProviderConfig() + fmt.Sprintf(`
data "mailhost_dns_record" "by_id" {
  id = "%d"
}
data "mailhost_dns_record" "by_key" {
  domain = "Bücher.com"
  name   = "SUB.bücher.com"
  type   = "MX"
  value  = "MX1.example.net."
}
data "mailhost_dns_record" "spf" {
  domain = %q
  name   = "@"
  type   = "TXT"
}
data "mailhost_dns_records" "all" {}
data "mailhost_dns_records" "www" {
  name = "www"
  type = "A"
}
data "mailhost_dns_records" "of_domain" {
  domain = "Bücher.com"
  name   = "www.bücher.com"
}
data "mailhost_dns_records" "none" {
  domain = "example.org"
  type   = "CAA"
}
`, mx.ID, d.ID)
	lists := func(name string, values ...string) statecheck.StateCheck {
		var all []knownvalue.Check
		for _, value := range values {
			all = append(all, knownvalue.ObjectPartial(map[string]knownvalue.Check{"value": knownvalue.StringExact(value)}))
		}
		return has("data.mailhost_dns_records."+name, "dns_records", knownvalue.ListExact(all))
	}
	const first = "data.mailhost_dns_record."
	checks := []statecheck.StateCheck{
		lists("www", "192.0.2.2", "192.0.2.1"), lists("of_domain", "192.0.2.2"), lists("none"),
		has("data.mailhost_dns_records.all", "dns_records", knownvalue.ListSizeExact(2*5+4)),
		statecheck.ExpectKnownValue("data.mailhost_dns_records.www", tfjsonpath.New("dns_records").AtSliceIndex(1).AtMapKey("domain"), knownvalue.StringExact("example.org")),
		has(first+"spf", "is_system_managed", knownvalue.Bool(true)),
		has(first+"spf", "value", knownvalue.StringRegexp(regexp.MustCompile("^v=spf1 "))),
		has(first+"spf", "priority", knownvalue.Null()),
	}
	for name, value := range map[string]knownvalue.Check{
		"id": knownvalue.StringExact(fmt.Sprint(mx.ID)), "domain": knownvalue.StringExact("xn--bcher-kva.com"), "name": knownvalue.StringExact("sub"),
		"type": knownvalue.StringExact("MX"), "value": knownvalue.StringExact("mx1.example.net"), "ttl": knownvalue.Int64Exact(api.DefaultDNSTTL),
		"priority": knownvalue.Int64Exact(10), "is_system_managed": knownvalue.Bool(false), "domain_id": knownvalue.StringExact(d.ID),
		"domain_name": knownvalue.StringExact("xn--bcher-kva.com"), "fqdn": knownvalue.StringExact("sub.xn--bcher-kva.com"),
	} {
		checks = append(checks, has(first+"by_id", name, value))
		if !slices.Contains([]string{"domain", "name", "value"}, name) { // these may keep their spelling
			checks = append(checks, has(first+"by_key", name, value))
		}
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: config, ConfigStateChecks: checks},
		{Config: config, PlanOnly: true},
	}})
}

func TestDataSourceRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for _, priority := range []string{"10", "20"} {
		create(t, s, "example.com", "sub", "MX", "mx.example.net", priority)
	}
	published := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	published.Domain(t, "example.com")
	const key = "  domain = \"example.com\"\n  type = \"A\"\n  name = \"www\"\n"
	for name, c := range map[string]struct {
		s            *acctest.Server
		config, want string
	}{
		"no argument":    {s, `data "mailhost_dns_record" "r" {}`, `Exactly one of these attributes must be configured: \[id,name\]`},
		"id and key":     {s, "data \"mailhost_dns_record\" \"r\" {\n  id = \"7\"\n" + key + "}", `"id" cannot be specified when "domain"`},
		"no domain":      {s, `data "mailhost_dns_record" "r" { name = "www" }`, `"domain" must be specified when "name"`},
		"no type":        {s, "data \"mailhost_dns_record\" \"r\" {\n  name = \"www\"\n  domain = \"example.com\"\n}", `"type" must be specified when "name"`},
		"no id":          {s, `data "mailhost_dns_record" "r" { id = "www" }`, `id must be a number such as 1042, not "www"`},
		"no name":        {s, `data "mailhost_dns_records" "r" { name = "a@b" }`, `name must be a record name`},
		"other type":     {s, `data "mailhost_dns_records" "r" { type = "mx" }`, `write "MX"`},
		"missing":        {s, "data \"mailhost_dns_record\" \"r\" {\n" + key + "}", `Can't find the DNS record with name = "www", domain = "example.com", type = "A"(?s:.*)there is no A record at www of example.com(?s:.*)Check the spelling`},
		"missing id":     {s, `data "mailhost_dns_record" "r" { id = "4711" }`, `Can't find the DNS record with id = "4711"(?s:.*)No such DNS record`},
		"several":        {s, "data \"mailhost_dns_record\" \"r\" {\n  domain = \"example.com\"\n  type = \"MX\"\n  name = \"sub\"\n}", `more than one MX record at sub of example.com(?s:.*)priority 10(?s:.*)priority 20(?s:.*)add the value, or refer to it by its id`},
		"published":      {published, "data \"mailhost_dns_record\" \"r\" {\n" + key + "}", `Can't find the DNS record(?s:.*)This API has no operation for it(?s:.*)published operations only`},
		"published, id":  {published, `data "mailhost_dns_record" "r" { id = "1" }`, `Can't find the DNS record(?s:.*)This API has no operation for it`},
		"published, all": {published, `data "mailhost_dns_records" "r" {}`, `Can't list the DNS records(?s:.*)This API has no operation for it(?s:.*)published operations only`},
	} {
		t.Run(name, func(t *testing.T) {
			acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{Config: c.s.ProviderConfig() + c.config, ExpectError: words(c.want)}}})
		})
	}
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

// TestListStopsAtTheLimit counts the API's requests for a limited list.
func TestListStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for _, domain := range []string{"example.com", "example.net", "example.org"} {
		s.Domain(t, domain)
		create(t, s, domain, "www", "A", "192.0.2.1", "")
	}
	var lists atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/dns-records") {
			lists.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, map[string]any{"type": "A"}, 2)
	p.NoErrors(diags)
	if len(listed) != 2 || lists.Load() != 2 {
		t.Errorf("listed %d from %d domains, want 2 from 2", len(listed), lists.Load())
	}
}

// TestListReportsFailure checks that a failure at the second domain is reported.
func TestListReportsFailure(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	d := s.Domain(t, "example.org")
	create(t, s, "example.com", "www", "A", "192.0.2.1", "")
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("domain") == d.ID {
			acctest.Refuse(w, http.StatusForbidden, "body", "no more")
			return
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 100)
	if len(listed) != 1 {
		t.Errorf("listed %d before the failure, want 1", len(listed))
	}
	acctest.Expect(t, diags, "ERROR: Can't list the DNS records", "No more", "HTTP 403")
}

func TestListPublished(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Domain(t, "example.com")
	_, diags := s.Protocol(t, "").List(typeName, nil, 100)
	acctest.Expect(t, diags, "ERROR: Can't list the DNS records", "This API has no operation for it", "published operations only")
}
