package dnsdata

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestForeignEncoding(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`v=DKIM1; k=rsa; p=AAAA""BBBB`:            `the quotation marks ""`,
		`v=DKIM1; k=rsa; p=AAAA" "BBBB`:           `the quotation marks " "`,
		`( "v=DKIM1; k=rsa; " "p=AAAA" )`:         `the quotation marks " "`,
		`v=DMARC1\; p=none`:                       `contains \;,`,
		`v=spf1\032-all`:                          `contains \032,`,
		`v=spf1\040-all`:                          `contains \040,`,
		`"v=DMARC1\\; p=none"`:                    `contains \;,`,
		`v=DMARC1;\np=none`:                       `contains \n, an escape of JSON`,
		`v=DMARC1\u003b p=none`:                   `contains \u003b,`,
		`'v=spf1 -all'`:                           "mark '",
		"`v=spf1 -all`":                           "mark `",
		`“v=spf1 -all”`:                           "mark “",
		`„v=spf1 -all“`:                           "mark „",
		`«v=spf1 -all»`:                           "mark «",
		`v=spf1 -all"`:                            `mark "`,
		`'v=spf1 -all`:                            "mark '",
		`"\"v=spf1 -all\""`:                       `mark "`,
		`&quot;v=spf1 -all&quot;`:                 "contains &quot;, an escape of HTML",
		`v=DMARC1; rua=https://a.example?b&amp;c`: "contains &amp;,",
		`v=DMARC1&#59; p=none`:                    "contains &#59;,",
		`v=spf1%20-all`:                           "begins with v=spf1%20, as in a URL",
		`v%3DDMARC1%3B%20p%3Dnone`:                "begins with v%3DDMARC1%3B,",
		`v=spf1include:_spf.example.net-all`:      "begins with v=spf1i, and so lacks the blank",
		`v=DMARC1`:                                "is only v=DMARC1, as if",
		`v=DKIM1;`:                                "is only v=DKIM1;, as if",

		// Strings as in other formats, and characters around or in them.
		`v=DKIM1; p=AA” “BB`:          "contains ”",
		`p=AA” “BB`:                   "contains ”",
		`v=DKIM1; p=AA' 'BB`:          `the quotation marks ' '`,
		`v=DKIM1; p=AA","BB`:          `the quotation marks ","`,
		`p=AA","BB`:                   `the quotation marks ","`,
		`["v=DKIM1; p=AA","BB"]`:      `contains "[\"" before`,
		`["v=spf1 -all"]`:             `contains "[\"" before`,
		`v=3DDKIM1; p=3DAA`:           "begins with v=3DDKIM1, as in quoted-printable",
		`v=DKIM1; p=AA<br>BB`:         "contains <br>,",
		`(v=spf1 -all)`:               `contains "(" before`,
		`TXT v=spf1 -all`:             `contains "TXT " before`,
		`@ 3600 IN TXT v=DMARC1; p=x`: `contains "@ 3600 IN TXT " before`,
		` v=spf1 -all`:                `contains " " before`,
		`v=spf1 -all;`:                "ends with ;",
		"v=spf1 mx\u00a0-all":         `contains "\u00a0"`,
		"v=spf1 mx –all":              "contains –,",

		`["a","b"]`:                        "",
		`[1, 2]`:                           "",
		`{"spf":"v=spf1 -all"}`:            "",
		`MS=ms12345678`:                    "",
		`a “quoted” word, and 'b' 'c' too`: "",
		`v=verifydomain MS=1; "x" y`:       "",
		`v=spf1 a:%{l;}.example -all`:      "",
		`v=DKIM1; k=rsa; p=AA BB; n=a`:     "",

		`v=spf1 include:%{i}._spf.example.net ?exists:%{l1r-}.example.net -all`: "",
		`v=spf1`:                   "",
		`v=spf10 -all`:             "",
		`v=DKIM1; n=it's; t=s; p=`: "",
		`v=DMARC1;p=none;rua=mailto:a%21b@example.com,https://a.example/?x=%20y&z=1`: "",
		`"v=DMARC1\; p=none" "; pct=50"`:                                             "", // decoded
		`google-site-verification=a+b/c=`:                                            "",
		`{"a":"","b":"c\\d"}`:                                                        "",
		`say "hello" to it`:                                                          "",
		`C:\Users`:                                                                   "",
		`https://example.com/a%20b?c&d`:                                              "",
		`"unclosed`:                                                                  "",
		"v=STSv1; id=20261129":                                                       "",
	} {
		got := ForeignEncoding(value)
		assert.Check(t, strings.Contains(got, want) && (want != "" || got == ""), "ForeignEncoding(%q) = %q, want %q", value, got, want)
	}
}
