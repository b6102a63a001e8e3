package customtype

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

const (
	idLower = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	idUpper = "7F0C1C1E-6F0E-4D8E-9A3C-1F2A3B4C5D6E"
	idOther = "00000000-0000-4000-8000-000000000000"
)

// examples are valid and invalid strings of a format, and pairs of equal and of
// unequal strings. Both strings of an unequal pair are valid.
type examples struct {
	valid, invalid []string
	equal, unequal [][2]string
}

// testType is a custom type with examples.
type testType struct {
	examples
	typ Type
}

// known returns a value as the framework passes it.
func (tt testType) known(s string) String {
	return String{StringValue: basetypes.NewStringValue(s), format: tt.typ.format}
}

var testTypes = map[string]testType{
	"EmailAddress": {typ: EmailAddress, examples: examples{
		valid:   []string{"jane@example.com", "Jane.Doe+tag@Example.COM", "jane@bücher.example"},
		invalid: []string{"", "jane", "jane@", "@example.com", "Jane <jane@example.com>", "jane@localhost", "jane@[192.0.2.1]", "jane@example.com ", "jäne@example.com"},
		equal: [][2]string{
			{"Jane@Example.com", "jane@example.com"},
			{"jane@example.com.", "jane@example.com"},
			{"jane@Bücher.example", "jane@xn--bcher-kva.example"},
			{"jane@bu\u0308cher.example", "jane@bücher.example"},
		},
		unequal: [][2]string{
			{"jane@example.com", "john@example.com"},
			{"jane@example.com", "jane@example.org"},
			{"jane+a@example.com", "jane@example.com"},
			{"jane@bücher.example", "jane@bucher.example"},
		},
	}},
	"LocalPart": {typ: LocalPart, examples: examples{
		valid:   []string{"jane", "Jane.Doe", "o'neil", "a+b", strings.Repeat("a", 64)},
		invalid: []string{"", ".jane", "jane.", "ja..ne", "jane@example.com", "ja ne", `"jane"`, "jäne", strings.Repeat("a", 65)},
		equal:   [][2]string{{"Jane", "jane"}, {"O'NEIL", "o'neil"}},
		unequal: [][2]string{{"jane", "jane.doe"}, {"jane", "jane+a"}},
	}},
	"DomainName": {typ: DomainName, examples: examples{
		valid:   []string{"example.com", "EXAMPLE.com.", "bücher.example", "xn--bcher-kva.example", "a.b.c.example"},
		invalid: []string{"", ".", "example", "example..com", "-a.example", "a_b.example", "192.0.2.1", "https://example.com/", "jane@example.com", idLower, strings.Repeat("a", 64) + ".example"},
		equal: [][2]string{
			{"Example.COM", "example.com"},
			{"example.com.", "example.com"},
			{"BÜCHER.example.", "xn--bcher-kva.example"},
			{"XN--BCHER-KVA.example", "bücher.example"},
			{"example。com", "example.com"},
		},
		unequal: [][2]string{
			{"example.com", "example.org"},
			{"www.example.com", "example.com"},
			{"bücher.example", "bucher.example"},
		},
	}},
	"DomainRef": {typ: DomainRef, examples: examples{
		valid:   []string{"example.com", "bücher.example.", idLower, idUpper},
		invalid: []string{"", "example", idLower[:35], "{" + idLower + "}", "urn:uuid:" + idLower, strings.ReplaceAll(idLower, "-", ""), idLower + " "},
		equal:   [][2]string{{idUpper, idLower}, {"Bücher.Example.", "xn--bcher-kva.example"}},
		unequal: [][2]string{{idLower, idOther}, {"example.com", "example.org"}, {idLower, "example.com"}},
	}},
	"DNSName": {typ: DNSName, examples: examples{
		valid:   []string{"@", "www", "WWW.eu", "*", "*.www", "_dmarc", "www.example.com.", "bücher", "selector._domainkey"},
		invalid: []string{"", ".", "com.", "a..b", "a b", "@.example.com", "a*", "*.", "http://example.com", strings.Repeat("a", 64)},
		equal: [][2]string{
			{"WWW", "www"},
			{"WWW.Bücher.Example.", "www.xn--bcher-kva.example."},
			{"Bücher", "xn--bcher-kva"},
			{"*.Example.com.", "*.example.com."},
		},
		unequal: [][2]string{
			{"www", "www2"},
			{"www", "www.example.com"},
			{"www", "www.example.com."},
			{"www.example.com.", "www.example.com"},
			{"@", "example.com."},
			{"@", "example.com"},
			{"*", "@"},
			{"bücher", "bucher"},
		},
	}},
	"UUID": {typ: UUID, examples: examples{
		valid:   []string{idLower, idUpper, idOther},
		invalid: []string{"", "example.com", idLower[:35], idLower + "0", "{" + idLower + "}", "urn:uuid:" + idLower, strings.ReplaceAll(idLower, "-", ""), strings.Replace(idLower, "7", "g", 1), strings.ReplaceAll(idLower, "-", "_")},
		equal:   [][2]string{{idUpper, idLower}},
		unequal: [][2]string{{idLower, idOther}},
	}},
	"RedirectURL": {typ: RedirectURL, examples: examples{
		valid:   []string{"https://www.example.com/", "http://example.com", "https://example.com:8443/a?b=c#d", "https://bücher.example/", "http://[2001:db8::1]:8080/", "https://localhost/", ""},
		invalid: []string{" ", "example.com", "/path", "ftp://example.com/", "https://", "https:///path", "http:example.com", "https://user:pw@example.com/", "https://exa mple.com/", "javascript:alert(1)"},
		equal: [][2]string{
			{"HTTPS://Example.COM/", "https://example.com/"},
			{"https://example.com", "https://example.com/"},
			{"https://example.com:443/a", "https://example.com/a"},
			{"http://example.com:80", "http://example.com/"},
			{"http://example.com:/", "http://example.com/"},
			{"https://Bücher.example/x", "https://xn--bcher-kva.example/x"},
			{"http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
			{"https://example.com?q=1", "https://example.com/?q=1"},
		},
		unequal: [][2]string{
			{"http://example.com/", "https://example.com/"},
			{"https://example.com/A", "https://example.com/a"},
			{"https://example.com/a", "https://example.com/a/"},
			{"https://example.com/?a=B", "https://example.com/?a=b"},
			{"https://example.com/?", "https://example.com/"},
			{"https://example.com/#A", "https://example.com/#a"},
			{"https://example.com/a%2Fb", "https://example.com/a/b"},
			{"https://example.com:80/", "https://example.com/"},
			{"http://example.com:443/", "http://example.com/"},
			{"https://example.com./", "https://example.com/"},
			{"https://www.example.com/", "https://example.com/"},
		},
	}},
	"Timestamp": {typ: Timestamp, examples: examples{
		valid: []string{"2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000000Z", "2027-01-01T01:00:00+01:00", "2026-12-31T19:00:00-05:00", "2027-01-01T00:00:00.123456789Z", "2028-02-29T12:00:00Z"},
		invalid: []string{"", "2027-01-01", "2027-01-01T00:00:00", "2027-01-01 00:00:00Z", "2027-1-1T00:00:00Z",
			"2027-02-29T00:00:00Z", "2027-01-01T24:00:00Z", "1798761600", "tomorrow", "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"},
		equal: [][2]string{
			{"2027-01-01T00:00:00Z", "2027-01-01T01:00:00+01:00"},
			{"2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000000Z"},
			{"2027-01-01T00:00:00Z", "2026-12-31T19:00:00-05:00"},
			{"2027-01-01T00:00:00.5Z", "2027-01-01T00:00:00.500000Z"},
			{"2027-01-01T00:00:00.123456789Z", "2027-01-01T00:00:00.123456Z"},
			{"2027-01-01T00:00:00-00:00", "2027-01-01T00:00:00+00:00"},
		},
		unequal: [][2]string{
			{"2027-01-01T00:00:00Z", "2027-01-01T00:00:00+01:00"},
			{"2027-01-01T00:00:00Z", "2027-01-01T00:00:01Z"},
			{"2027-01-01T00:00:00.000001Z", "2027-01-01T00:00:00Z"},
		},
	}},
}
