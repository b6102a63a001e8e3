package function_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// since skips the test on a CLI without provider functions.
var since = []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_8_0)}

// dynamic calls functions with a value that is unknown until the apply.
const dynamic = `
resource "terraform_data" "host" {
  input = "spf.example.net"
}

locals {
  policy  = provider::mailhost::mta_sts_policy("enforce", ["mail.example.com"], 604800)
  chunked = provider::mailhost::dkim_record(local.rsa, { n = terraform_data.host.output })
}

output "address" {
  value = provider::mailhost::parse_address("Jane@${upper(terraform_data.host.output)}").domain
}

output "chunks" {
  value = [for s in provider::mailhost::txt_chunks(local.chunked) : length(s)]
}

resource "mailhost_dns_zone" "org" {
  domain  = "example.org"
  records = merge(provider::mailhost::parse_zone("$TTL 60\n@ MX 10 mx\n@ MX 20 mx2\nWWW 300 TXT \"a\" \"b\"\n@ NS ns1\n", "example.org"), {
    "ftp A" = { values = ["192.0.2.1"] }
  })
}

output "zone" {
  value = jsonencode(mailhost_dns_zone.org.records)
}
`

// records maps a label to the name of a TXT record and the expression for its value.
var records = map[string][2]string{
	"spf":         {"news", `provider::mailhost::spf_record(["include:_${terraform_data.host.output}", "a/24//64"], "-all")`},
	"dmarc":       {"_dmarc.news", `provider::mailhost::dmarc_record("reject", { rua = ["dmarc@${terraform_data.host.output}", "a!b@example.com"], pct = 50 })`},
	"dkim":        {"s._domainkey.news", `local.chunked`},
	"dkim_quoted": {"q._domainkey.news", `provider::mailhost::txt_value(local.chunked)`},
	"dkim_gone":   {"r._domainkey.news", `provider::mailhost::dkim_record("", { revoked = true })`},
	"mta_sts":     {"_mta-sts", `provider::mailhost::mta_sts_record(provider::mailhost::mta_sts_id(local.policy))`},
	"tls_rpt":     {"_smtp._tls", `provider::mailhost::tls_rpt_record(["tls@example.com", "https://example.com/a,b"])`},
}

// configOf returns a configuration with all records.
func configOf(s *acctest.Server) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%slocals {\n  rsa = %q\n}\n%s", s.ProviderConfig(), rsa2048, dynamic)
	for label, r := range records {
		fmt.Fprintf(&b, "resource \"mailhost_dns_record\" %q {\n  domain = \"example.com\"\n  name = %q\n  type = \"TXT\"\n  value = %s\n}\n", label, r[0], r[1])
	}
	return b.String()
}

// rsa2048 is a key with a record longer than one TXT string.
const rsa2048 = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmpFC2wz07toQ8jHwnU8MJUNoS7Oi7d1tXUAcJX1CudMMRGmiAikhqXqSg4G2r7dT2MbLfzcqQM8orKW5TXZ2KMWOMTWfiy+7U15GgqjgbceHRogfltzbEH/cRwNXW5Nvk7bnDHrx7yNpn/pJSn3A" +
	"+vyketLJ7V/Ft7d+pay2jhYkamFoADotnuXhS0Q/Jhnf+q8/nGXb5VbGaV0luT0LKQ6DN7TK4aXvdxK+1cw8clIibGPj4PchFFjmnEGknFNC/4i1Lg2VmbhT8u3qzmfKo+m4VqPc8hJlhY0rAL6Pl1R3Znx2sYonW9yMW+1cPtaq/yhg0r63QIlg8ibHqbTblQIDAQAB"

// TestAccRecords checks that a record accepts each result as its value, that a zone accepts the result
// of a zone file, and that the second plan is empty, even if the API can't read records.
func TestAccRecords(t *testing.T) {
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		s.Domain(t, "example.org")
		config := configOf(s)
		value := func(label, want string) statecheck.StateCheck {
			return statecheck.ExpectKnownValue("mailhost_dns_record."+label, tfjsonpath.New("value"), knownvalue.StringExact(want))
		}
		dkim := "v=DKIM1; k=rsa; n=spf.example.net; p=" + rsa2048
		resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), TerraformVersionChecks: since, Steps: []resource.TestStep{
			{
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectUnknownValue("mailhost_dns_record.spf", tfjsonpath.New("value")), plancheck.ExpectUnknownOutputValue("address")}},
				ConfigStateChecks: []statecheck.StateCheck{
					value("spf", "v=spf1 include:_spf.example.net a/24//64 -all"),
					value("dmarc", "v=DMARC1; p=reject; rua=mailto:dmarc@spf.example.net,mailto:a%21b@example.com; pct=50"),
					value("dkim", dkim),
					value("dkim_quoted", `"`+dkim[:255]+`" "`+dkim[255:]+`"`),
					value("dkim_gone", "v=DKIM1; p="),
					value("mta_sts", "v=STSv1; id=a5963b31a082635c6ec668171482b14f;"),
					value("tls_rpt", "v=TLSRPTv1; rua=mailto:tls@example.com,https://example.com/a%2Cb"),
					statecheck.ExpectKnownOutputValue("address", knownvalue.StringExact("spf.example.net")),
					statecheck.ExpectKnownOutputValue("zone", knownvalue.StringExact(`{"@ MX":{"ttl":60,"values":["10 mx.example.org","20 mx2.example.org"]},"ftp A":{"ttl":3600,"values":["192.0.2.1"]},"www TXT":{"ttl":300,"values":["ab"]}}`)),
					statecheck.ExpectKnownOutputValue("chunks", knownvalue.ListExact([]knownvalue.Check{knownvalue.Int64Exact(255), knownvalue.Int64Exact(int64(len(dkim) - 255))})),
				},
			},
			{Config: config, PlanOnly: true},
		}})
	})
}
