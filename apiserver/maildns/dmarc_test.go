package maildns

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

// TestDMARCRecord begins with examples of RFC 7489, appendix B.2, and continues with tags of RFC
// 9989.
func TestDMARCRecord(t *testing.T) {
	t.Parallel()
	tests := recordTests{
		"monitoring":        {DMARC{P: "none", RUA: []string{"mailto:dmarc-feedback@example.com"}}, "v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com"},
		"per-message":       {DMARC{P: "none", RUA: []string{"dmarc-feedback@example.com"}, RUF: []string{"auth-reports@example.com"}}, "v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com; ruf=mailto:auth-reports@example.com"},
		"quarantine by pct": {DMARC{P: "quarantine", Pct: new(int64(25)), RUA: []string{"dmarc-feedback@example.com", "tld-test@thirdparty.example.net!10m"}}, "v=DMARC1; p=quarantine; rua=mailto:dmarc-feedback@example.com,mailto:tld-test@thirdparty.example.net!10m; pct=25"},
		"only the policy":   {DMARC{P: "reject"}, "v=DMARC1; p=reject"},
		"everything": {
			DMARC{P: "reject", SP: "quarantine", NP: "reject", T: "y", PSD: "n", RUA: []string{"a@example.com"}, RUF: []string{"b@example.com!1g"}, ADKIM: "s", ASPF: "r", RI: new(int64(3600)), FO: []string{"1", "d", "s"}, RF: []string{"afrf"}, Pct: new(int64(0))},
			"v=DMARC1; p=reject; sp=quarantine; np=reject; rua=mailto:a@example.com; ruf=mailto:b@example.com!1g; adkim=s; aspf=r; t=y; psd=n; ri=3600; fo=1:d:s; rf=afrf; pct=0",
		},
		"address in Unicode": {DMARC{P: "none", RUA: []string{"Jane@Bücher.example."}}, "v=DMARC1; p=none; rua=mailto:Jane@xn--bcher-kva.example"},
		"escapes":            {DMARC{P: "none", RUA: []string{"a!b%c=d@example.com!5K", "mailto:x%21y@example.com", "a+b_c@example.com"}}, "v=DMARC1; p=none; rua=mailto:a%21b%25c%3Dd@example.com!5k,mailto:x%21y@example.com,mailto:a+b_c@example.com"},
		"longest interval":   {DMARC{P: "none", RI: new(int64(math.MaxUint32))}, "v=DMARC1; p=none; ri=4294967295"},
	}
	tests.check(t)
}

func TestDMARCProblems(t *testing.T) {
	t.Parallel()
	rua := func(s ...string) DMARC { return DMARC{P: "none", RUA: s} }
	tests := recordTests{
		"no policy":        {DMARC{}, `policy: must be none or quarantine or reject, not ""`},
		"unknown policy":   {DMARC{P: "rejected"}, `policy: must be none or quarantine or reject, not "rejected"`},
		"upper case":       {DMARC{P: "None"}, "policy: must be"},
		"subdomains":       {DMARC{P: "none", SP: "no"}, "sp: must be"},
		"non-existent":     {DMARC{P: "none", NP: "no"}, "np: must be"},
		"DKIM alignment":   {DMARC{P: "none", ADKIM: "strict"}, `adkim: must be r or s, not "strict"`},
		"SPF alignment":    {DMARC{P: "none", ASPF: "x"}, "aspf: must be r or s"},
		"pct over":         {DMARC{P: "none", Pct: new(int64(101))}, "pct: must be a whole number from 0 to 100, not 101"},
		"pct under":        {DMARC{P: "none", Pct: new(int64(-1))}, "pct: must be"},
		"interval over":    {DMARC{P: "none", RI: new(int64(math.MaxUint32 + 1))}, "ri: must be a whole number from 0 to 4294967295"},
		"testing":          {DMARC{P: "none", T: "yes"}, `t: must be y or n, not "yes"`},
		"public suffix":    {DMARC{P: "none", PSD: "x"}, `psd: must be y or n or u`},
		"fo":               {DMARC{P: "none", FO: []string{"1", "x"}}, `fo[1]: must be 0 or 1 or d or s, not "x"`},
		"fo twice":         {DMARC{P: "none", FO: []string{"1", "1"}}, `fo[1]: "1" repeats element 0`},
		"rf":               {DMARC{P: "none", RF: []string{"iodef"}}, `rf[0]: must be afrf`},
		"no address":       {rua("example.com"), "rua[0]: \"example.com\": address must contain an @"},
		"empty address":    {rua(""), "rua[0]: \"\": address must not be empty"},
		"two in one":       {rua("a@example.com,b@example.com"), "each address as its own element"},
		"https":            {rua("https://example.com/dmarc"), "is not an address"},
		"bad domain":       {rua("a@example"), "invalid domain"},
		"size unit":        {rua("a@example.com!10mb"), "has an invalid size"},
		"size of two":      {rua("a b@example.com!1m"), "single address"},
		"size of nothing":  {rua("a@example.com!"), "has an invalid size"},
		"size zero":        {rua("a@example.com!0m"), "has an invalid size"},
		"header":           {rua("mailto:a@example.com?subject=x"), "invalid domain"},
		"semicolon":        {rua("a@example.com; p=none"), "single address"},
		"bad escape":       {rua("mailto:a%zz@example.com"), "does not begin an escape"},
		"same target":      {rua("a@example.com", "mailto:a@EXAMPLE.com!1m"), "rua[1]: \"mailto:a@example.com\" repeats element"},
		"failure address":  {DMARC{P: "none", RUF: []string{"x"}}, "ruf[0]: "},
		"several problems": {DMARC{P: "x", ADKIM: "x", Pct: new(int64(200))}, "policy: must be none or quarantine or reject, not \"x\"\nadkim: must be r or s, not \"x\"\npct: "},
	}
	tests.checkProblems(t)
}

func TestTLSRPTRecord(t *testing.T) {
	t.Parallel()
	for want, rua := range map[string][]string{ // the first two are from RFC 8460, section 3.1
		"v=TLSRPTv1; rua=mailto:reports@example.com":                             {"mailto:reports@example.com"},
		"v=TLSRPTv1; rua=https://reporting.example.com/v1/tlsrpt":                {"https://reporting.example.com/v1/tlsrpt"},
		"v=TLSRPTv1; rua=mailto:a%21b@example.com,https://xn--bcher-kva.example": {"a!b@Example.com", "https://Bücher.example"},
		"v=TLSRPTv1; rua=https://a.example:8443/~x%21%2C%3B?y=%3B":               {"HTTPS://a.example:8443/~x!,;?y=;"},
	} {
		got, err := TLSRPTRecord(rua)
		assert.Check(t, err == nil && got == want, "got %q, %v; want %q", got, err, want)
	}
	for in, want := range map[string]string{
		"http://example.com": "is not an https URL", "ftp://example.com": "is not an https URL", "https://u:secret@example.com": "must not have a user", "https://example.com/#x": "fragment",
		"https://localhost": "invalid host", "https://192.0.2.1/": "invalid host", "https://example.com:99999/": "port", "https://example.com/?q=ü": "escaped", "https://example.com/?a b": "escaped", "https://example.com/#": "fragment", "example.com": "must contain an @",
		"a@example.com!10m": "must not contain", "mailto://a@example.com": "is not an address",
	} {
		got, err := TLSRPTRecord([]string{in})
		wantProblem(t, got, err, "rua[0]: ", want)
	}
	got, err := TLSRPTRecord(nil)
	wantProblem(t, got, err, "rua: must contain at least one address")
	got, err = TLSRPTRecord([]string{"a@example.com", "a@example.com"})
	wantProblem(t, got, err, "rua[1]: ", "repeats")
}
