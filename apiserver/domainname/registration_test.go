package domainname

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestRegistrable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want error
	}{
		"generic":                     {"example.com", nil},
		"any spelling":                {"Example.COM.", nil},
		"second-level registry":       {"example.co.uk", nil},
		"IDN":                         {"пример.рф", nil},
		"wildcard rule":               {"example.foo.ck", nil},
		"exception rule":              {"www.ck", nil},
		"parent of private suffixes":  {"amazonaws.com", nil},
		"ICANN suffix":                {"co.uk", ErrNotRegistrable},
		"suffix by wildcard":          {"foo.ck", ErrNotRegistrable},
		"private suffix":              {"github.io", ErrNotRegistrable},
		"host":                        {"www.example.com", ErrNotRegistrable},
		"deep host":                   {"a.b.example.co.uk", ErrNotRegistrable},
		"below an exception":          {"a.www.ck", ErrNotRegistrable},
		"below a private suffix":      {"foo.github.io", ErrUnsupportedTLD},
		"private suffix, deeper node": {"noc.ruhr-uni-bochum.de", ErrUnsupportedTLD},
		"unknown top level":           {"example.notatld", ErrUnsupportedTLD},
		"special use":                 {"example.test", ErrUnsupportedTLD},
		"onion":                       {"example.onion", ErrUnsupportedTLD},
		"arpa":                        {"2.0.192.in-addr.arpa", ErrUnsupportedTLD},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, is.ErrorIs(Registrable(tt.in), tt.want), "Registrable(%q)", tt.in)
		})
	}
}

func TestRegistrationRules(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"example.com", "EXAMPLE.com.", "bücher.de", "straße.de", "xn--bcher-kva.de", "пример.com", "δοκιμή.gr", "例え.jp", "東京タワー.jp", "ひらがなカタカナ漢字.jp", "한글漢字.kr",
		"漢字ㄅ.tw", "col·lega.cat", "לעו״ז.com", "カ・ラ.jp", "اختبار٣.com", "1-2.com", "café-2.fr", "नेपाली.com", "ไทย.com", "a-1.com", "ǧ.com", "〇一.com", "росток.com", "сосо.рф",
	} {
		err := Registrable(name)
		assert.Check(t, err == nil, "%s: %v", name, err)
	}
	for _, name := range []string{
		"i❤.ws", "xn--i-7iq.ws", "☃.com", "👍.com", "pаypal.com", "аррӏе.com", "xn--pypal-4ve.com", "аpple.com", "bücherж.de", "tokyo東京.jp", "αбв.com", "ひらがな한글.com", "ㄅ한.com",
		"a·b.com", "l·.com", "·l.com", "カ·ラ.jp", "a・b.com", "ab--cd.com", "٣۳.com", "ـا.com", "½½.com․", "a⃝.com", "㈱.a․", "", "a b.com", "〱.jp", "com", "_a.com", "192.0.2.1",
	} {
		err := Registrable(name)
		assert.Check(t, err != nil && !errors.Is(err, ErrUnsupportedTLD) && !errors.Is(err, ErrNotRegistrable), "%s: %v", name, err)
	}
	// Names that can't be registered are still valid for lookup.
	_, err := Normalize("i❤.ws")
	assert.Check(t, err)
}
