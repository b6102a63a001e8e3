package dnsdata

import (
	"strings"
	"testing"
)

var (
	// longestASCII fills the RDATA: 255 strings of 255 octets and one of 254, each with
	// a length octet, are 65535 octets.
	longestASCII = strings.Repeat("a", 255*255+254)
	// longestUmlauts fills it too: 257 strings of 254 octets.
	longestUmlauts = strings.Repeat("ü", 257*127)
)

func TestNormalizeTXT(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string
	}{
		"literal":                   {"v=spf1 include:_spf.example.com -all", "v=spf1 include:_spf.example.com -all"},
		"case kept":                 {"Hello", "Hello"},
		"semicolons":                {"v=DMARC1; p=none", "v=DMARC1; p=none"},
		"inner quotes":              {`say "hi"`, `say "hi"`},
		"literal backslash":         {`a\b\"c\000`, `a\b\"c\000`},
		"surrounding space":         {"  a  ", "  a  "},
		"space only":                {" ", " "},
		"Unicode":                   {"grüße 👋", "grüße 👋"},
		"quoted":                    {`"v=spf1 -all"`, "v=spf1 -all"},
		"quoted, white space":       {"\n  \"v=spf1 -all\"\t\r\n", "v=spf1 -all"},
		"joined":                    {`"v=DKIM1; p=AB" "CD"`, "v=DKIM1; p=ABCD"},
		"joined over lines":         {"\"a\"\n\t\"b\"\r\n\"c\"", "abc"},
		"empty strings among":       {`"" "a" ""`, "a"},
		"escapes":                   {`"a\"b\\c\065\;"`, `a"b\cA;`},
		"UTF-8 by octets":           {`"\195\188"`, "ü"},
		"UTF-8 over strings":        {`"\195" "\188"`, "ü"},
		"quoted Unicode":            {`"ü"`, "ü"},
		"string beyond 255":         {`"` + strings.Repeat("a", 300) + `"`, strings.Repeat("a", 300)},
		"quoted space":              {`"  "`, "  "},
		"text is quoted":            {`"\"a\""`, `"\"a\""`},
		"text is a quote":           {`"\034"`, `"\""`},
		"text is space and a quote": {`"  \"x"`, `"  \"x"`},
		"quoted text, not ASCII":    {`"\"ü\\"`, `"\"\195\188\\"`},
		"NBSP and a quote":          {"\u00a0\"x", "\u00a0\"x"},
		"quoted text, long": {
			`"\"` + strings.Repeat("a", 300) + `"`,
			`"\"` + strings.Repeat("a", 254) + `" "` + strings.Repeat("a", 46) + `"`,
		},
		"longest":            {longestASCII, longestASCII},
		"longest in umlauts": {longestUmlauts, longestUmlauts},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkValue(t, "TXT", tt.in, tt.want)
		})
	}
}

func TestNormalizeTXTErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string // want is a part of the message
	}{
		"empty":                  {"", "must not be empty"},
		"empty quoted":           {`""`, "must not be empty"},
		"empty strings":          {`"" ""`, "must not be empty"},
		"no closing quote":       {`"abc`, "unbalanced quotes: no closing quote in the string at position 1"},
		"no second closing":      {`"abc" "d`, "unbalanced quotes: no closing quote in the string at position 7"},
		"escaped closing quote":  {`"abc\"`, "unbalanced quotes"},
		"lone quote":             {`"`, "unbalanced quotes"},
		"text after":             {`"abc" def`, "text outside quotes at position 7"},
		"text after, no space":   {`"abc"def`, "text outside quotes at position 6"},
		"no space between":       {`"abc""def"`, "no space between quoted strings at position 6"},
		"lone backslash":         {`"\`, "nothing to escape"},
		"two digits":             {`"\12"`, "three digits"},
		"two digits at the end":  {`"\12`, "three digits"},
		"beyond an octet":        {`"\256"`, `\256 is not an octet`},
		"letter escape":          {`"a\nb"`, "unknown escape"},
		"escaped space":          {`"a\ b"`, "unknown escape"},
		"escaped non-ASCII":      {`"\ü"`, "unknown escape"},
		"line break":             {"abc\n", "line break"},
		"line break quoted":      {"\"abc\n\"", "line break"},
		"tab":                    {"a\tb", "control character U+0009"},
		"NUL by escape":          {`"\000"`, "control character U+0000"},
		"DEL by escape":          {`"\127"`, "control character U+007F"},
		"C1 by escape":           {`"\194\133"`, "control character U+0085"},
		"not UTF-8":              {"\xff", "valid UTF-8"},
		"not UTF-8 by escape":    {`"\255"`, "valid UTF-8"},
		"half a sequence":        {`"a\195"`, "valid UTF-8"},
		"one too long":           {longestASCII + "a", "65535 octets"},
		"too long in characters": {longestUmlauts + "a", "65535 octets"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkValueError(t, "TXT", tt.in, tt.want)
		})
	}
}

func TestChunks(t *testing.T) {
	t.Parallel()
	a255 := strings.Repeat("a", 255)
	tests := map[string]struct {
		in   string
		want []int // lengths of the chunks
	}{
		"empty":               {"", []int{0}},
		"short":               {"a", []int{1}},
		"full":                {a255, []int{255}},
		"one more":            {a255 + "a", []int{255, 1}},
		"two full":            {a255 + a255, []int{255, 255}},
		"two octets across":   {a255[1:] + "ü", []int{254, 2}},
		"three octets across": {a255[2:] + "€", []int{253, 3}},
		"four octets across":  {a255[3:] + "👋", []int{252, 4}},
		"four octets fit":     {a255[4:] + "👋", []int{255}},
		"not UTF-8":           {a255[10:] + strings.Repeat("\x80", 20), []int{255, 10}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Chunks(tt.in)
			if strings.Join(got, "") != tt.in {
				t.Errorf("joined chunks differ from the text")
			}
			if len(got) != len(tt.want) {
				t.Fatalf("%d chunks; want %d", len(got), len(tt.want))
			}
			for i, chunk := range got {
				if len(chunk) != tt.want[i] {
					t.Errorf("chunk %d has %d octets; want %d", i, len(chunk), tt.want[i])
				}
			}
		})
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in, want string
	}{
		"empty":     {"", `""`},
		"plain":     {"v=spf1 -all", `"v=spf1 -all"`},
		"escapes":   {`a"b\c`, `"a\"b\\c"`},
		"non-ASCII": {"ü", `"\195\188"`},
		"control":   {"a\n\x7f", `"a\010\127"`},
		"two":       {strings.Repeat("a", 256), `"` + strings.Repeat("a", 255) + `" "a"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Quote(tt.in); got != tt.want {
				t.Errorf("Quote(%q) = %s; want %s", tt.in, got, tt.want)
			}
		})
	}
}
