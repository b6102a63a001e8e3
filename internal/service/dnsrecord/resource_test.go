package dnsrecord_test

import (
	"fmt"
	"regexp"
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
