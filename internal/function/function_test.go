package function_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const (
	edKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=" // RFC 8463, appendix A.2
	// an RSA key of 1024 bits: RFC 6376, appendix C
	rsaKey = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYtIxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhitdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB"
	policy = "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmax_age: 1209600\r\n"
)

type (
	object = map[string]any
	list   = []any
)

// text formats a result, with each element of a list on its own line.
func text(t *testing.T, v tftypes.Value) string {
	t.Helper()
	var s string
	if v.Type().Is(tftypes.String) {
		assert.NilError(t, v.As(&s))
		return s
	}
	var items []tftypes.Value
	assert.NilError(t, v.As(&items))
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = text(t, item)
	}
	return strings.Join(lines, "\n")
}

func TestResults(t *testing.T) {
	t.Parallel()
	p := acctest.Unconfigured(t)
	tests := map[string]struct {
		function  string
		arguments list
		want      string
	}{
		"SPF":                          {"spf_record", list{list{"include:_spf.example.net", "ip4:192.0.2.0/24", "mx"}, "-all"}, "v=spf1 include:_spf.example.net ip4:192.0.2.0/24 mx -all"},
		"SPF of no sender":             {"spf_record", list{list{}, "-all"}, "v=spf1 -all"},
		"DMARC":                        {"dmarc_record", list{"reject", object{"rua": list{"dmarc@example.com"}, "adkim": "s"}}, "v=DMARC1; p=reject; rua=mailto:dmarc@example.com; adkim=s"},
		"DMARC, bare":                  {"dmarc_record", list{"none"}, "v=DMARC1; p=none"},
		"DMARC, no options":            {"dmarc_record", list{"none", object{}}, "v=DMARC1; p=none"},
		"DMARC, every tag":             {"dmarc_record", list{"none", object{"pct": 50, "rf": "afrf", "fo": list{"d", "s"}, "ri": 3600, "aspf": "r", "adkim": "s", "t": "n", "psd": "u", "ruf": "a@example.com", "rua": list{"b@example.com!10m", "c@example.com"}, "np": "reject", "sp": "quarantine"}}, "v=DMARC1; p=none; sp=quarantine; np=reject; rua=mailto:b@example.com!10m,mailto:c@example.com; ruf=mailto:a@example.com; adkim=s; aspf=r; t=n; psd=u; ri=3600; fo=d:s; rf=afrf; pct=50"},
		"DMARC, as Terraform converts": {"dmarc_record", list{"none", object{"pct": "0", "fo": 1, "ri": "60"}}, "v=DMARC1; p=none; ri=60; fo=1; pct=0"},
		"DMARC, fo in one":             {"dmarc_record", list{"none", object{"fo": "1:d:s"}}, "v=DMARC1; p=none; fo=1:d:s"},
		"DMARC, null tags":             {"dmarc_record", list{"none", object{"sp": nil, "np": tftypes.NewValue(tftypes.String, nil), "rua": nil, "pct": nil, "ruf": list{}}}, "v=DMARC1; p=none"},
		"DMARC, a map":                 {"dmarc_record", list{"none", tftypes.NewValue(tftypes.Map{ElementType: tftypes.String}, map[string]tftypes.Value{"sp": tftypes.NewValue(tftypes.String, "reject")})}, "v=DMARC1; p=none; sp=reject"},
		"DMARC, a set":                 {"dmarc_record", list{"none", object{"rua": tftypes.NewValue(tftypes.Set{ElementType: tftypes.String}, []tftypes.Value{tftypes.NewValue(tftypes.String, "a@example.com")})}}, "v=DMARC1; p=none; rua=mailto:a@example.com"},
		"DKIM":                         {"dkim_record", list{rsaKey}, "v=DKIM1; k=rsa; p=" + rsaKey},
		"DKIM, every tag":              {"dkim_record", list{edKey, object{"t": list{"y", "s"}, "s": "email", "h": "sha256", "n": "of 2026", "k": "ed25519", "revoked": false}}, "v=DKIM1; k=ed25519; h=sha256; s=email; t=y:s; n=of 2026; p=" + edKey},
		"DKIM, revoked":                {"dkim_record", list{"", object{"revoked": true}}, "v=DKIM1; p="},
		"DKIM, revoked, type":          {"dkim_record", list{"", object{"revoked": "true", "k": "rsa"}}, "v=DKIM1; k=rsa; p="},
		"MTA-STS":                      {"mta_sts_record", list{"20160831085700Z"}, "v=STSv1; id=20160831085700Z;"},
		"MTA-STS policy":               {"mta_sts_policy", list{"enforce", list{"mail.example.com", "*.Example.net"}, 1209600}, policy},
		"MTA-STS id":                   {"mta_sts_id", list{policy}, "e7d3c066d549635c53bd9e975e80aac7"},
		"TLS-RPT":                      {"tls_rpt_record", list{list{"tls@example.com", "https://reports.example.com/tls"}}, "v=TLSRPTv1; rua=mailto:tls@example.com,https://reports.example.com/tls"},
		"chunks":                       {"txt_chunks", list{strings.Repeat("a", 256)}, strings.Repeat("a", 255) + "\na"},
		"chunks of quoted":             {"txt_chunks", list{`"a" "b"`}, "ab"},
		"value":                        {"txt_value", list{strings.Repeat("a", 255) + `"`}, `"` + strings.Repeat("a", 255) + `" "\""`},
		"domain":                       {"normalize_domain", list{"Bücher.Example."}, "xn--bcher-kva.example"},
		"domain in Unicode":            {"domain_to_unicode", list{"_DMARC.xn--bcher-kva.example."}, "_dmarc.bücher.example"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, ferr := p.Call(tt.function, tt.arguments...)
			if ferr != nil {
				t.Fatal(ferr.Text)
			}
			assert.Check(t, is.DeepEqual(text(t, v), tt.want))
		})
	}
}

// TestParseUsers reads files in the formats of Excel and of Entra, and omits another domain.
func TestParseUsers(t *testing.T) {
	t.Parallel()
	const (
		excel = "\ufeffFirst Name [Required];Last Name [Required];Email Address [Required];Department\r\n" +
			"Jane;Doe;Jane.Doe@example.com;Sales\r\nZoë;\"Müller; M.A.\";zoe@EXAMPLE.com;\r\nEve;Other;eve@example.org;\r\n"
		entra = "userPrincipalName,mail,givenName,surname,RecipientTypeDetails\njdoe@example.com,jane.doe@example.com,Jane,Doe,UserMailbox\n" +
			"zoe@corp.onmicrosoft.com,zoe@example.com,Zoë,\"Müller; M.A.\",SharedMailbox\n,all@example.com,A,B,MailUniversalDistributionGroup\n"
	)
	for name, arguments := range map[string]list{
		"Excel":                  {excel, "Example.com."},
		"Excel, other domains":   {excel, "example.com", object{"other_domains": list{"Example.org"}}},
		"Excel, no options":      {excel, "example.com", object{"other_domains": nil, "address": nil}},
		"Entra":                  {entra, "example.com", object{"other_domains": list{}}},
		"named columns, a title": {"Staff\nLogin,Rufname,Hausname\njane.doe@example.com,Jane,Doe\nzoe@example.com,Zoë,Müller; M.A.\n", "example.com", object{"address": "login", "first_name": "Rufname", "last_name": "Hausname"}},
	} {
		v, ferr := acctest.Unconfigured(t).Call("parse_users", arguments...)
		if ferr != nil {
			t.Fatal(name, ferr.Text)
		}
		var people, names map[string]tftypes.Value
		assert.NilError(t, v.As(&people))
		got := map[string]string{}
		for local, p := range people {
			assert.NilError(t, p.As(&names))
			got[local] = text(t, names["first_name"]) + "|" + text(t, names["last_name"])
		}
		assert.Check(t, is.DeepEqual(got, map[string]string{"jane.doe": "Jane|Doe", "zoe": "Zoë|Müller; M.A."}), name)
	}
}

// TestCheckMailDNS checks the records of a list and of a zone.
func TestCheckMailDNS(t *testing.T) {
	t.Parallel()
	const unready = "mx ok, spf failed, dkim failed, dmarc failed, mta_sts warning, tls_rpt warning, apex ok, bulk_senders failed, "
	for name, tt := range map[string]struct {
		records any
		want    string
	}{
		"list": {list{
			object{"name": "@", "type": "MX", "value": "mx.example.com", "priority": 10, "ttl": 60, "id": nil}, object{"name": "mx.example.com.", "type": "A", "value": "192.0.2.1", "priority": nil},
			object{"name": "@", "type": "TXT", "value": "v=spf1 +all"},
		}, unready},
		"zone": {object{
			"@ MX": object{"ttl": 60, "values": list{"10 mx.example.com."}}, "mx A": object{"values": list{"192.0.2.1"}}, "@ TXT": object{"values": list{"v=spf1 +all"}},
		}, unready},
		"parked": {object{
			"@ MX": object{"values": list{"0 ."}}, "@ TXT": object{"values": list{"v=spf1 -all"}}, "_dmarc TXT": object{"values": list{"v=DMARC1; p=reject"}}, "*._domainkey TXT": object{"values": list{"v=DKIM1; p="}},
		}, "mx ok, spf ok, dkim ok, dmarc ok, mta_sts ok, tls_rpt ok, apex ok, bulk_senders ok, "},
		"other domains": {list{
			object{"name": "@", "type": "MX", "value": "mx.example.com", "priority": 10, "domain_name": "Example.com"}, object{"name": "mx", "type": "A", "value": "192.0.2.1", "domain_name": "example.com"},
			object{"name": "@", "type": "TXT", "value": "v=spf1 +all", "domain_name": "example.com"}, object{"name": "@", "type": "SOA", "value": "ns.example.com. a.example.com. 1 2 3 4 5", "domain_name": nil},
			object{"name": "_dmarc", "type": "TXT", "value": "v=DMARC1; p=reject", "domain_name": "example.org"}, object{"name": "@", "type": "TXT", "value": "v=spf1 mx -all", "domain_name": "example.org"}, object{"name": "s1._domainkey", "type": "CNAME", "value": "s1.host.example", "domain_name": "example.org"},
		}, unready},
		"wildcard": {object{
			"@ MX": object{"values": list{"10 mx.example.com."}}, "* A": object{"values": list{"192.0.2.1"}}, "@ TXT": object{"values": list{"v=spf1\u00a0mx -all"}},
		}, unready},
	} {
		v, ferr := acctest.Unconfigured(t).Call("check_mail_dns", "Example.com", tt.records)
		if ferr != nil {
			t.Fatal(ferr.Text)
		}
		var results []tftypes.Value
		assert.NilError(t, v.As(&results))
		got := ""
		for _, r := range results {
			var fields map[string]tftypes.Value
			assert.NilError(t, r.As(&fields))
			got += text(t, fields["check"]) + " " + text(t, fields["status"]) + ", "
		}
		assert.Check(t, is.Equal(got, tt.want), name)
	}
}

// TestOddValues calls each function with an argument of any type, its last one, with null and other odd values in
// each place of the argument. None may panic. Other arguments can contain a null only in a list, see TestErrors.
func TestOddValues(t *testing.T) {
	t.Parallel()
	p := acctest.Unconfigured(t)
	null, numbers := tftypes.NewValue(tftypes.Number, nil), tftypes.List{ElementType: tftypes.Number}
	odd := list{"", true, 1.5, 1e300, list{}, list{nil}, object{}, object{"x": nil}, null, tftypes.NewValue(tftypes.Bool, nil), tftypes.NewValue(tftypes.String, nil),
		tftypes.NewValue(numbers, nil), tftypes.NewValue(numbers, []tftypes.Value{null})}
	calls := map[string]list{ // the last argument, without odd values
		"check_mail_dns": {list{object{"name": "@", "type": "MX", "value": "mx.example.com", "priority": 10}}, object{"@ MX": object{"ttl": 60, "values": list{"10 mx.example.com."}}}},
		"dkim_record":    {object{"t": list{"y"}, "s": "email", "h": "sha256", "n": "n", "k": "ed25519", "revoked": false}},
		"dmarc_record":   {object{"sp": "none", "rua": list{"a@example.com"}, "ri": 60, "fo": list{"d"}, "rf": "afrf", "pct": 50}},
		"parse_users":    {object{"address": "Login", "other_domains": list{"example.org"}}},
	}
	const users = "Login,first_name,last_name\njane@example.com,Jane,Doe\n"
	for name, f := range p.Functions() {
		takesAny := f.VariadicParameter != nil || f.Parameters[len(f.Parameters)-1].Type.Is(tftypes.DynamicPseudoType)
		assert.Check(t, takesAny == (calls[name] != nil), "%s is missing in calls, or wrong", name)
		for _, last := range calls[name] {
			for _, v := range odd {
				for _, changed := range replaced(last, v) {
					if name == "parse_users" {
						_, _ = p.Call(name, users, "example.com", changed)
						continue
					}
					_, _ = p.Call(name, "example.com", changed)
				}
			}
		}
	}
}

// replaced returns v with another value in each place: in place of v itself first, then inside it.
func replaced(v, by any) list {
	all := list{by}
	switch v := v.(type) {
	case list:
		for i := range v {
			for _, e := range replaced(v[i], by) {
				all = append(all, slices.Concat(v[:i], list{e}, v[i+1:]))
			}
		}
	case object:
		for name := range v {
			for _, e := range replaced(v[name], by) {
				changed := maps.Clone(v)
				changed[name] = e
				all = append(all, changed)
			}
		}
	}
	return all
}

// TestErrors checks that an error names the argument and its mistakes.
func TestErrors(t *testing.T) {
	t.Parallel()
	const call = -1 // an error about more than one argument
	p := acctest.Unconfigured(t)
	tests := map[string]struct {
		function  string
		arguments list
		argument  int64
		want      string
	}{
		"SPF term":               {"spf_record", list{list{"mx", "ptr"}, "-all"}, 0, "terms[1]: ptr must not be used"},
		"SPF null term":          {"spf_record", list{list{"mx", nil}, "-all"}, 0, "terms[1]: must not be null"},
		"SPF after a null":       {"spf_record", list{list{nil, "ptr"}, "-all"}, 0, "by compact()\nterms[1]: ptr must not be used"},
		"SPF default":            {"spf_record", list{list{"mx"}, "+all"}, 1, "default: all without a qualifier"},
		"SPF both":               {"spf_record", list{list{"all"}, ""}, call, "terms[0]: all belongs in default: receivers ignore all terms after it (RFC 7208, section 5.1)\ndefault: "},
		"DMARC policy":           {"dmarc_record", list{"rejected"}, 0, "policy: must be none or quarantine or reject"},
		"DMARC both":             {"dmarc_record", list{"rejected", object{"sp": "x"}}, call, "\nsp: must be"},
		"DMARC unknown tag":      {"dmarc_record", list{"none", object{"RUA": "a@example.com", "dkim": "s"}}, 1, "options: unknown option RUA; expected sp, np, rua, ruf, adkim, aspf, t, psd, ri, fo, rf, pct\noptions: unknown option dkim;"},
		"DMARC policy twice":     {"dmarc_record", list{"none", object{"p": "none"}}, 1, "options: unknown option p;"},
		"DMARC address":          {"dmarc_record", list{"none", object{"rua": list{"a@example.com", "b"}}}, 1, `rua[1]: "b": address must contain an @`},
		"DMARC null address":     {"dmarc_record", list{"none", object{"rua": list{"a@example.com", nil}}}, 1, "rua[1]: must not be null"},
		"DMARC null number":      {"dmarc_record", list{"none", object{"fo": tftypes.NewValue(tftypes.List{ElementType: tftypes.Number}, []tftypes.Value{tftypes.NewValue(tftypes.Number, 0), tftypes.NewValue(tftypes.Number, nil)})}}, 1, "fo[1]: must not be null"},
		"DMARC after a null":     {"dmarc_record", list{"none", object{"rua": list{nil, "b"}}}, 1, "by compact()\nrua[1]: \"b\": address must contain an @"},
		"DMARC number":           {"dmarc_record", list{"none", object{"pct": "half"}}, 1, "pct: must be a whole number"},
		"DMARC fraction":         {"dmarc_record", list{"none", object{"pct": 0.5}}, 1, "pct: must be a whole number"},
		"DMARC range":            {"dmarc_record", list{"none", object{"pct": 101}}, 1, "pct: must be a whole number from 0 to 100, not 101"},
		"DMARC huge number":      {"dmarc_record", list{"none", object{"ri": 1e30}}, 1, "ri: must be a whole number"},
		"DMARC text":             {"dmarc_record", list{"none", object{"sp": list{"none"}}}, 1, "sp: must be a string"},
		"DMARC empty text":       {"dmarc_record", list{"none", object{"sp": ""}}, 1, "sp: must not be empty; leave it out"},
		"DMARC list":             {"dmarc_record", list{"none", object{"rua": object{"a": "b"}}}, 1, "rua: must be a list of strings"},
		"DMARC list of lists":    {"dmarc_record", list{"none", object{"rua": list{list{}}}}, 1, "rua: must be a list of strings"},
		"DMARC options":          {"dmarc_record", list{"none", "rua"}, 1, "options: must be an object"},
		"DMARC options twice":    {"dmarc_record", list{"none", object{}, object{}}, 1, "options: must be a single object, not 2 arguments"},
		"DKIM key":               {"dkim_record", list{"MIIB"}, 0, "public_key: this is not a public key"},
		"DKIM no key":            {"dkim_record", list{""}, 0, "public_key: must not be empty, because that would revoke"},
		"DKIM private key":       {"dkim_record", list{"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"}, 0, "public_key: this is a PRIVATE key"},
		"DKIM flag":              {"dkim_record", list{edKey, object{"t": "x"}}, 1, "t[0]: must be y or s"},
		"DKIM revoked":           {"dkim_record", list{edKey, object{"revoked": true}}, 1, "revoked: a revoked key"},
		"DKIM no bool":           {"dkim_record", list{edKey, object{"revoked": "yes"}}, 1, "revoked: must be true or false"},
		"DKIM unknown tag":       {"dkim_record", list{edKey, object{"testing": true}}, 1, "options: unknown option testing; expected t, s, h, n, k, revoked"},
		"MTA-STS id":             {"mta_sts_record", list{"2026-01-31"}, 0, "id: must be 1 to 32 ASCII letters and digits"},
		"MTA-STS mode":           {"mta_sts_policy", list{"report", list{"a.example.com"}, 1}, 0, "mode: must be enforce or testing or none"},
		"MTA-STS host":           {"mta_sts_policy", list{"enforce", list{"a.*.com"}, 1}, 1, "mx[0]: "},
		"MTA-STS null host":      {"mta_sts_policy", list{"none", list{nil}, 1}, 1, "mx[0]: must not be null"},
		"MTA-STS age":            {"mta_sts_policy", list{"enforce", list{"a.example.com"}, 31557601}, 2, "max_age: must be a whole number from 0 to 31557600"},
		"MTA-STS all":            {"mta_sts_policy", list{"x", list{}, -1}, call, "\nmax_age: "},
		"MTA-STS no policy":      {"mta_sts_id", list{"mode: enforce"}, 0, "policy: there must be one line version"},
		"TLS-RPT":                {"tls_rpt_record", list{list{"x"}}, 0, `rua[0]: "x": address must contain an @`},
		"TLS-RPT null":           {"tls_rpt_record", list{list{nil}}, 0, "rua[0]: must not be null"},
		"TLS-RPT nobody":         {"tls_rpt_record", list{list{}}, 0, "rua: must contain at least one address"},
		"chunks":                 {"txt_chunks", list{""}, 0, "must not be empty"},
		"value":                  {"txt_value", list{`"a`}, 0, "no string in double quotes"},
		"address":                {"parse_address", list{"Jane <jane@example.com>"}, 0, "display name"},
		"domain":                 {"normalize_domain", list{"https://example.com"}, 0, "must not be a URL"},
		"domain with underscore": {"normalize_domain", list{"_dmarc.example.com"}, 0, "must not contain '_'"},
		"users, one twice":       {"parse_users", list{"address,first_name,last_name\njane@example.com,A,B\nJane@example.com,C,D\n", "example.com"}, 0, "these rows can't become mailboxes; correct them in the file:\nline 3: Jane@example.com: line 2 has this address already"},
		"users of another":       {"parse_users", list{"address,first_name,last_name\njane@example.org,A,B\n", "example.com"}, 0, "the file has no user of example.com; it has users of example.org"},
		"users, invalid":         {"parse_users", list{"address,first_name,last_name\njane@example.com,\"A\n\",B\nj\u00f6@example.org,A,B\nno-at,A,B\n", "example.com"}, 0, "file:\nline 5 (row 4): no-at: is not an address"},
		"users, control":         {"parse_users", list{"address,first_name,last_name\n\x1b[2J\u202ejane,A,B\n", "example.com"}, 0, "file:\nline 2: \\u001b[2J\\u202ejane: is not"},
		"users, unread list":     {"parse_users", list{"DisplayName,EmailAddresses,UserPrincipalName\nJane Doe,System.String[],jdoe@example.com\n", "example.com"}, 0, `line 2: jdoe@example.com: the cell "System.String[]" in "EmailAddresses" contains no address`},
		"users, JSON":            {"parse_users", list{`[{"mail":"a@example.com"}]`, "example.com"}, 0, "the file seems to be JSON, not CSV"},
		"users, no addresses":    {"parse_users", list{"Name,Phone\nJane Doe,1\n", "example.com"}, 0, "the first row has no column with the address"},
		"users, named columns":   {"parse_users", list{"Postfach,Rufname\nx,y\n", "example.com", object{"address": "Postfach"}}, 0, `its columns are "Postfach", "Rufname"; name it in a third argument: { first_name = "…" }`},
		"users, no such column":  {"parse_users", list{"address,name\n", "example.com", object{"address": "Mail"}}, 0, `the file has no column "Mail" for the address`},
		"users, unknown option":  {"parse_users", list{"address,name\n", "example.com", object{"email": "Mail"}}, 2, "options: unknown option email; expected address, sign_in,"},
		"users, other domains":   {"parse_users", list{"address,name\nbob@exmaple.com,B C\neve@example.net,E F\nal@example.org,A L\n", "example.com", object{"other_domains": list{"example.org"}}}, 0, "add their domains to other_domains:\nline 2: bob@exmaple.com: is in another domain, probably a misspelled one\nline 3: eve@example.net: is in another domain"},
		"users, invalid option":  {"parse_users", list{"address,name\n", "example.com", object{"other_domains": list{"x"}}}, 2, `other_domains[0]: "x": name must have`},
		"users, no domain":       {"parse_users", list{"address,first_name,last_name\n", "localhost"}, 1, "domain: name must have at least two labels"},
		"zone, another type":     {"parse_zone", list{"@ HTTPS 1 .", "example.com"}, 0, "remove them from the file:\nline 1: example.com. HTTPS 1 .: "},
		"zone, no domain":        {"parse_zone", list{"", "localhost"}, 1, "domain: name must have at least two labels"},
		"mail, no domain":        {"check_mail_dns", list{"localhost", list{}}, 0, "domain: name must have at least two labels"},
		"mail, no records":       {"check_mail_dns", list{"example.com", "x"}, 1, "records: must be a list"},
		"mail, no value":         {"check_mail_dns", list{"example.com", list{object{"name": "@", "type": "A"}}}, 1, "records[0]: must be a list"},
		"mail, no values":        {"check_mail_dns", list{"example.com", object{"@": object{"values": list{"x"}}}}, 1, `"@": must be a list`},
		"mail, invalid":          {"check_mail_dns", list{"example.com", object{"@ A": object{"values": list{"x"}}}}, 1, "@"},
		"domain to Unicode":      {"domain_to_unicode", list{"localhost"}, 0, "two labels"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, ferr := p.Call(tt.function, tt.arguments...)
			assert.Assert(t, ferr != nil, "no error")
			assert.Check(t, strings.Contains(ferr.Text, tt.want), "%q is missing in: %s", tt.want, ferr.Text)
			argument := int64(call)
			if ferr.FunctionArgument != nil {
				argument = *ferr.FunctionArgument
			}
			assert.Check(t, argument == tt.argument, "the error is of argument %d, not %d", argument, tt.argument)
			assert.Check(t, !strings.Contains(ferr.Text, "c2VjcmV0") && !strings.Contains(ferr.Text, edKey), "the error contains the key: %s", ferr.Text)
			// Terraform appends its own punctuation.
			assert.Check(t, !strings.HasSuffix(ferr.Text, "."), "ends in a full stop: %s", ferr.Text)
		})
	}
}
