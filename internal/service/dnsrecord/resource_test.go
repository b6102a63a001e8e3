package dnsrecord_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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

// configOf returns a configuration of records; more has additional lines for each of them.
func configOf(s *acctest.Server, records map[string][5]string, more ...string) string {
	var b strings.Builder
	b.WriteString(s.ProviderConfig())
	for label, r := range records {
		fmt.Fprintf(&b, "resource \"mailhost_dns_record\" %q {\n  domain = %q\n  name = %q\n  type = %q\n  value = %q\n", label, r[0], r[1], r[2], r[3])
		if r[4] != "" {
			fmt.Fprintf(&b, "  priority = %s\n", r[4])
		}
		b.WriteString("  " + strings.Join(more, "\n  ") + "\n}\n")
	}
	return b.String()
}

// record returns a configuration of one record.
func record(s *acctest.Server, attributes ...string) string {
	return s.ProviderConfig() + "resource \"mailhost_dns_record\" \"this\" {\n  " + strings.Join(attributes, "\n  ") + "\n}\n"
}

const address = "mailhost_dns_record.this"

func has(address, name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
}

func plans(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}, more...)}
}

// TestSpellings checks that the second plan is empty for any spelling, also if the API
// can't read records.
func TestSpellings(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		d := s.Domain(t, "bücher.com")
		byID := map[string][5]string{}
		for label, r := range spellings[1] {
			r[0] = strings.ToUpper(d.ID)
			byID[label] = r
		}
		acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
			{
				Config: configOf(s, spellings[0]),
				ConfigStateChecks: []statecheck.StateCheck{
					has("mailhost_dns_record.mx", "value", knownvalue.StringExact("Mail.Example.NET.")),
					has("mailhost_dns_record.mx", "name", knownvalue.StringExact("Sub.Bücher.com")),
					has("mailhost_dns_record.mx", "priority", knownvalue.Int64Exact(10)),
					has("mailhost_dns_record.mx", "ttl", knownvalue.Int64Exact(api.DefaultDNSTTL)),
					has("mailhost_dns_record.mx", "is_system_managed", knownvalue.Bool(false)),
					has("mailhost_dns_record.mx", "domain_id", knownvalue.StringExact(d.ID)),
					has("mailhost_dns_record.mx", "domain_name", knownvalue.StringExact("xn--bcher-kva.com")),
					has("mailhost_dns_record.mx", "fqdn", knownvalue.StringExact("sub.xn--bcher-kva.com")),
					has("mailhost_dns_record.mx", "id", knownvalue.StringRegexp(regexp.MustCompile(`^\d+$`))),
					has("mailhost_dns_record.apex", "fqdn", knownvalue.StringExact("xn--bcher-kva.com")),
					has("mailhost_dns_record.wild", "fqdn", knownvalue.StringExact("*.dev.xn--bcher-kva.com")),
					has("mailhost_dns_record.apex", "priority", knownvalue.Null()),
				},
			},
			{Config: configOf(s, spellings[1]), PlanOnly: true},
			{Config: configOf(s, byID), PlanOnly: true},
		}})
	})
}

func TestLifecycle(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	known := func(name string, want knownvalue.Check) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
	}
	verify := func(id string) resource.TestStep {
		return resource.TestStep{ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateId: id}
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config:           record(s, `domain = "example.com"`, `name = "sub"`, `type = "MX"`, `value = "mx1.example.net"`, `priority = 10`, `ttl = 300`),
			ConfigPlanChecks: plans(plancheck.ResourceActionCreate, known("ttl", knownvalue.Int64Exact(300))),
		},
		{ // a different spelling is no change
			Config: record(s, `domain = "example.com"`, `name = "SUB.example.com"`, `type = "MX"`, `value = "MX1.example.net."`, `priority = 20`),
			ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
				known("ttl", knownvalue.Int64Exact(api.DefaultDNSTTL)), known("id", knownvalue.NotNull()), known("fqdn", knownvalue.StringExact("sub.example.com")),
				known("domain_id", knownvalue.StringExact(d.ID)), known("value", knownvalue.StringExact("mx1.example.net"))),
			ConfigStateChecks: []statecheck.StateCheck{has(address, "priority", knownvalue.Int64Exact(20))},
		},
		{
			Config:           record(s, `domain = "example.com"`, `name = "sub"`, `type = "MX"`, `value = "mx2.example.net"`, `priority = 20`),
			ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
		},
		verify(""),
		verify("example.com/MX/sub/mx2.example.net"),
		verify("EXAMPLE.com/mx/Sub.example.com"),
		verify(d.ID + "/MX/sub/MX2.example.net."),
		{
			Config:           record(s, `domain = "example.com"`, `name = "other"`, `type = "MX"`, `value = "mx2.example.net"`, `priority = 20`),
			ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
		},
		{
			Config:           record(s, `domain = "example.com"`, `name = "other"`, `type = "TXT"`, `value = "mx2/example.net"`),
			ConfigPlanChecks: plans(plancheck.ResourceActionReplace),
		},
		verify("example.com/TXT/other/mx2/example.net"),
	}})
}

// TestImportIsEmptyPlan checks that the plan after an import is empty for any spelling.
func TestImportIsEmptyPlan(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.net")
	d := s.Domain(t, "bücher.com")
	imports, labels := "", []plancheck.PlanCheck{}
	for label, r := range spellings[0] {
		body := api.CreateDNSRecordBody{Domain: r[0], Name: r[1], Type: r[2], Value: r[3], Prio: number(r[4])}
		made, err := s.Client.CreateDNSRecord(t.Context(), body)
		must(t, err)
		id := fmt.Sprint(made.ID)
		if label != "txt" {
			id = strings.Join([]string{d.Name, r[2], r[1], r[3]}, "/")
		}
		imports += fmt.Sprintf("import {\n  to = mailhost_dns_record.%s\n  id = %q\n}\n", label, id)
		labels = append(labels, plancheck.ExpectResourceAction("mailhost_dns_record."+label, plancheck.ResourceActionNoop))
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:            configOf(s, spellings[1]) + imports,
		ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: labels},
		ConfigStateChecks: []statecheck.StateCheck{has("mailhost_dns_record.txt", "domain", knownvalue.StringExact("xn--bcher-kva.com"))},
	}}})
}

func TestDisappears(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	config := record(s, `domain = "example.com"`, `name = "www"`, `type = "A"`, `value = "192.0.2.1"`)
	remove := func() {
		for _, r := range records(t, s, "A") {
			must(t, s.Client.DeleteDNSRecord(t.Context(), r.ID))
		}
	}
	acctest.Test(t, resource.TestCase{
		CheckDestroy: func(*terraform.State) error {
			for r, err := range s.Client.ListDNSRecords(t.Context(), api.ListDNSRecordsRequest{}) {
				if err != nil || !r.IsSystemManaged {
					return fmt.Errorf("record %d is left, %w", r.ID, err)
				}
			}
			return nil
		},
		Steps: []resource.TestStep{
			{Config: config},
			{PreConfig: remove, Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionCreate)},
			{ // deleted with its domain
				PreConfig: func() {
					must(t, s.Client.DeleteDomain(t.Context(), d.ID))
					d = s.Domain(t, "example.com")
				},
				Config: config, ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
			},
			{ // changed outside Terraform
				PreConfig: func() {
					for _, r := range records(t, s, "A") {
						_, err := s.Client.UpdateDNSRecord(t.Context(), r.ID, api.UpdateDNSRecordBody{Value: new("192.0.2.9"), TTL: new(int64(60))})
						must(t, err)
					}
				},
				Config: config,
				ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
					plancheck.ExpectKnownValue(address, tfjsonpath.New("value"), knownvalue.StringExact("192.0.2.1"))),
			},
		},
	})
}

func TestRefused(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	dkim, err := s.Client.FindDNSRecords(t.Context(), "example.com", "TXT", "mailhost._domainkey", "")
	if err != nil || len(dkim) != 1 {
		t.Fatalf("the DKIM records are %v, %v", dkim, err)
	}
	www, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "www", Type: "A", Value: "192.0.2.1"})
	must(t, err)
	fails := func(want string, domain, name, recordType, value string, more ...string) resource.TestStep {
		lines := append([]string{fmt.Sprintf("domain = %q", domain), fmt.Sprintf("name = %q", name), fmt.Sprintf("type = %q", recordType), fmt.Sprintf("value = %q", value)}, more...)
		return resource.TestStep{Config: record(s, lines...), ExpectError: words(want)}
	}
	imports := func(want, id string) resource.TestStep {
		return resource.TestStep{
			Config:       record(s, `domain = "example.com"`, `name = "www"`, `type = "A"`, `value = "192.0.2.1"`),
			ResourceName: address, ImportState: true, ImportStateId: id, ExpectError: words(want),
		}
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		fails(`type must be one of A, AAAA(?s:.*)write "TXT"`, "example.com", "www", "txt", "x"),
		fails(`Value of A must be an IPv4 address; an IPv6 address`, "example.com", "www", "A", "2001:db8::1"),
		fails(`A record of the type MX needs a priority`, "example.com", "www", "MX", "mail.example.com"),
		fails(`Records of the type TXT have no priority; leave it out`, "example.com", "www", "TXT", "x", "priority = 10"),
		fails(`the preference belongs in the priority`, "example.com", "www", "MX", "10 mail.example.com", "priority = 10"),
		fails(`ttl must be between 60 and 86400, got 59`, "example.com", "www", "TXT", "x", "ttl = 59"),
		fails(`priority must be between 0 and 65535`, "example.com", "www", "MX", "mail.example.com", "priority = 70000"),
		fails(`Name ends in a dot but is outside the zone "example.com"`, "example.com", "www.example.net.", "TXT", "x"),
		fails(`name must be(?s:.*)must not contain @`, "example.com", "www@", "TXT", "x"),
		fails(`domain = "example.net"(?s:.*)The account has no domain "example.net"`, "example.net", "www", "TXT", "x"),
		fails(`domain = "7f0c1c1e(?s:.*)The account has no domain "7f0c1c1e`, "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "www", "TXT", "x"),
		fails(fmt.Sprintf(`with the id %d(?s:.*)id = "example.com/A/WWW/192.0.2.1"`, www.ID), "example.com", "WWW", "A", "192.0.2.1"),
		fails(`is system-managed(?s:.*)Remove the resource`, "example.com", dkim[0].Name, "TXT", dkim[0].Value),
		fails(`a CNAME excludes other records at its name(?s:.*)Change the name`, "example.com", "www", "CNAME", "example.net"),
		imports(`(?i)there is no A record at web of example.com`, "example.com/A/web"),
		imports(`Expected <domain>/<type>/<name>`, "www.example.com"),
		imports(`Unsupported record type "PTR"`, "example.com/PTR/www"),
		imports(`record is system-managed(?s:.*)needs no resource`, "example.com/MX/@"),
		imports(`is system-managed(?s:.*)needs no resource`, strconv.FormatInt(dkim[0].ID, 10)),
		imports(`(?i)no such DNS record(?s:.*)Import by <domain>`, "4711"),
	}})
}

func TestAmbiguousImport(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	ids := []any{}
	for _, prio := range []string{"10", "20"} {
		r, err := s.Client.CreateDNSRecord(t.Context(), api.CreateDNSRecordBody{Domain: "example.com", Name: "sub", Type: "MX", Value: "mx.example.net", Prio: number(prio)})
		must(t, err)
		ids = append(ids, r.ID)
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{{
		Config:       record(s, `domain = "example.com"`, `name = "sub"`, `type = "MX"`, `value = "mx.example.net"`, `priority = 10`),
		ResourceName: address, ImportState: true, ImportStateId: "example.com/MX/sub/mx.example.net",
		ExpectError: words(fmt.Sprintf(`more than one MX record at sub(?s:.*)%d \("mx.example.net", priority 10\), %d \("mx.example.net", priority 20\)`, ids...)),
	}}})
}

// TestPublishedOnly uses an API that can only create: reads keep the state, a change
// explains how to replace the record, and everything else succeeds.
func TestPublishedOnly(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Domain(t, "example.com")
	with := func(ttl int, value string) string {
		return record(s, `domain = "example.com"`, `name = "www"`, `type = "A"`, fmt.Sprintf("ttl = %d", ttl), fmt.Sprintf("value = %q", value))
	}
	acctest.Test(t, resource.TestCase{
		CheckDestroy: func(*terraform.State) error {
			if n := len(records(t, s, "A")); n != 2 {
				return fmt.Errorf("%d records remain", n)
			}
			return nil
		},
		Steps: []resource.TestStep{
			{Config: with(300, "192.0.2.1")},
			{Config: with(600, "192.0.2.1"), ExpectError: words(`no operation that changes a DNS record(?s:.*)-replace=`)},
			{Config: with(300, "192.0.2.2"), ExpectError: words(`id \d+, whose value is "192.0.2.1"`)},
			{Taint: []string{address}, Config: with(300, "192.0.2.2"), ConfigPlanChecks: plans(plancheck.ResourceActionReplace)},
			{
				Config: with(300, "192.0.2.2"), ResourceName: address, ImportState: true, ImportStateId: "example.com/A/www",
				ExpectError: words(`no operation that reads a DNS record`),
			},
			{Config: with(300, "192.0.2.2"), ResourceName: address, ImportState: true, ExpectError: words(`no operation that reads a DNS record`)},
		},
	})
}
