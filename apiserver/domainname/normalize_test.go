package domainname

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

var (
	label63 = strings.Repeat("a", 63)
	name253 = strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string
	}{
		"plain":                       {"example.com", "example.com"},
		"upper case":                  {"EXAMPLE.Com", "example.com"},
		"trailing dot":                {"example.com.", "example.com"},
		"IDN":                         {"Bücher.Example", "xn--bcher-kva.example"},
		"IDN decomposed":              {"bu\u0308cher.example", "xn--bcher-kva.example"},
		"A-label upper case":          {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
		"sharp s is kept apart":       {"straße.de", "xn--strae-oqa.de"},
		"IDN top-level domain":        {"пример.рф", "xn--e1afmkfd.xn--p1ai"},
		"fullwidth":                   {"\uff45\uff38ample\uff0ecom", "example.com"},
		"ideographic full stop":       {"例え。jp", "xn--r8jz45g.jp"},
		"trailing ideographic stop":   {"例え.jp。", "xn--r8jz45g.jp"},
		"soft hyphen dropped":         {"exam\u00adple.com", "example.com"},
		"right to left":               {"מבחן.example", "xn--5dbmtg.example"},
		"right to left below a digit": {"1.מבחן.example", "1.xn--5dbmtg.example"},
		"emoji":                       {"i❤.ws", "xn--i-7iq.ws"},
		"digits in front":             {"123.example", "123.example"},
		"inner hyphens":               {"r3---sn-abc.example.com", "r3---sn-abc.example.com"},
		"longest label":               {label63 + ".com", label63 + ".com"},
		"longest name":                {name253, name253},
		"longest name, trailing dot":  {name253 + ".", name253},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Normalize(tt.in)
			assert.Assert(t, err == nil && got == tt.want, "Normalize(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
			again, err := Normalize(got)
			assert.Check(t, err == nil && again == got, "Normalize(%q) = %q, %v; want it unchanged", got, again, err)
		})
	}
}

func TestNormalizeErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string // want is a part of the message
	}{
		"empty":                    {"", "must not be empty"},
		"root":                     {".", "must not be empty"},
		"one label":                {"localhost", "at least two labels"},
		"one label, dot":           {"com.", "at least two labels"},
		"leading dot":              {".example.com", "empty label"},
		"doubled dot":              {"a..com", "empty label"},
		"two trailing dots":        {"example.com..", "empty label"},
		"leading hyphen":           {"-a.com", "begin or end with a hyphen"},
		"trailing hyphen":          {"a-.com", "begin or end with a hyphen"},
		"hyphen only":              {"-.com", "begin or end with a hyphen"},
		"space":                    {"exa mple.com", "must not contain ' '"},
		"surrounding space":        {" example.com", "must not contain ' '"},
		"newline":                  {"example.com\n", `must not contain '\n'`},
		"underscore":               {"_dmarc.example.com", "must not contain '_'"},
		"wildcard":                 {"*.example.com", "must not contain '*'"},
		"IPv4":                     {"192.0.2.1", "IP address"},
		"IPv6":                     {"2001:db8::1", "or an address"},
		"bracketed IPv6":           {"[2001:db8::1]", "or an address"},
		"numeric top level":        {"1.2.3.4.5", "must not be a number"},
		"port":                     {"example.com:443", "port"},
		"URL":                      {"https://example.com/", "URL"},
		"address":                  {"jane@example.com", "or an address"},
		"long label":               {label63 + "a.com", "63 characters"},
		"long name":                {name253 + "b", "253 characters"},
		"absurdly long":            {strings.Repeat("ü", 5000), "253 characters"},
		"long IDN label":           {strings.Repeat("ü", 63) + ".com", "63 characters"},
		"very long IDN label":      {strings.Repeat("ü", 600) + ".com", "63 characters"},
		"not UTF-8":                {"b\xfccher.example", "UTF-8"},
		"bad punycode":             {"xn--a.example", "not a valid internationalised label"},
		"empty punycode":           {"xn--.example", "not a valid internationalised label"},
		"punycode of ASCII":        {"xn--example-.com", "not a valid internationalised label"},
		"A-label of upper case":    {"xn--bcher-2pa.example", "not a valid internationalised label"},
		"mapped to nothing":        {"\u00ad.com", "not a valid internationalised label"},
		"disallowed rune":          {"a\u2028b.com", "not a valid internationalised label"},
		"underscore in IDN":        {"_bücher.com", "must not contain '_'"},
		"fullwidth underscore":     {"\uff3fa.com", "not a valid internationalised label"},
		"mapped to dots":           {"a…b.com", "not a valid internationalised label"},
		"replacement character":    {"a\ufffd.com", "not a valid internationalised label"},
		"right to left mixed":      {"aמב.com", "not a valid internationalised label"},
		"echo is short":            {strings.Repeat("q", 3000) + ".com", `"qqqqqqqqqqqqqqqqqqqqqqqq"…`},
		"echo escapes":             {"a\x1b[31m.com", `"a\x1b[31m"`},
		"IDN with hyphens in 3, 4": {"ab--ü.com", "not a valid internationalised label"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Normalize(tt.in)
			assert.Assert(t, err != nil, "Normalize(%q) = %q; want an error", tt.in, got)
			assert.Check(t, got == "", "Normalize(%q) = %q with an error; want an empty string", tt.in, got)
			assert.Check(t, strings.Contains(err.Error(), tt.want), "Normalize(%q): %v; want %q in it", tt.in, err, tt.want)
			assert.Check(t, len(err.Error()) <= 160, "message of %d bytes: %v", len(err.Error()), err)
		})
	}
}

func TestNormalizeHostAndLabels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		normalize func(string) (string, error)
		in, want  string // an empty want is an error
	}{
		"plain":                     {NormalizeHost, "Mail.Example.com.", "mail.example.com"},
		"DKIM selector":             {NormalizeHost, "S1._domainkey.example.com", "s1._domainkey.example.com"},
		"inner underscore":          {NormalizeHost, "a_b.example.com", "a_b.example.com"},
		"underscore only":           {NormalizeHost, "_.example.com", "_.example.com"},
		"underscore, IDN parent":    {NormalizeHost, "_dmarc.bücher.example", "_dmarc.xn--bcher-kva.example"},
		"underscore, right to left": {NormalizeHost, "_dmarc.מבחן.example", "_dmarc.xn--5dbmtg.example"},
		"underscore in last label":  {NormalizeHost, "s1._domainkey", ""},
		"underscore in A-label":     {NormalizeHost, "xn--a_b-hka.example.com", ""},
		"single label":              {NormalizeHost, "mail", ""},
		"null":                      {NormalizeHost, ".", ""},
		"apex":                      {NormalizeHost, "@", ""},
		"wildcard":                  {NormalizeHost, "*.example.com", ""},
		"IPv4":                      {NormalizeHost, "192.0.2.1", ""},
		"preference in front":       {NormalizeHost, "10 mail.example.com", ""},
		"labels, one":               {NormalizeLabels, "WWW", "www"},
		"labels, several":           {NormalizeLabels, "_dmarc.Bücher", "_dmarc.xn--bcher-kva"},
		"labels, numbers":           {NormalizeLabels, "1.2", "1.2"},
		"labels, trailing dot":      {NormalizeLabels, "www.", ""},
		"labels, leading dot":       {NormalizeLabels, ".www", ""},
		"labels, empty":             {NormalizeLabels, "", ""},
		"labels, over the limit":    {NormalizeLabels, name253 + "b", ""},
	} {
		got, err := tt.normalize(tt.in)
		assert.Check(t, got == tt.want && (err == nil) == (tt.want != ""), "%s: %q becomes %q, %v; want %q", name, tt.in, got, err, tt.want)
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"example.com", "EXAMPLE.com.", true},
		{"bücher.example", "xn--bcher-kva.example", true},
		{"example.com", "example.org", false},
		{"example.com", "not a name", false},
		{"not a name", "example.com", false},
		{"not a name", "not a name", true},
		{"not a name", "Not a name", false},
		{"", "", true},
	}
	for _, tt := range tests {
		got := Equal(tt.a, tt.b)
		assert.Check(t, got == tt.want, "Equal(%q, %q) = %t; want %t", tt.a, tt.b, got, tt.want)
	}
}

func TestUnicode(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "example.com": "example.com", "xn--bcher-kva.example": "bücher.example", "a.xn--bcher-kva": "a.bücher", "_dmarc.xn--5dbmtg.example": "_dmarc.מבחן.example",
		"xn--e1afmkfd.xn--p1ai": "пример.рф", "xn--strae-oqa.de": "straße.de", "xn--i-7iq.ws": "i❤.ws", "xn--.com": "xn--.com", "xn--a.com": "xn--a.com", "axn--bcher-kva.de": "axn--bcher-kva.de",
	} {
		assert.Check(t, is.Equal(Unicode(name), want), "Unicode(%q)", name)
	}
}
