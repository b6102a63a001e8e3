package domainname

import (
	"errors"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestRegistrable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want error
	}{
		"generic":                    {"example.com", nil},
		"any spelling":               {"Example.COM.", nil},
		"second-level registry":      {"example.co.uk", nil},
		"IDN":                        {"пример.рф", nil},
		"wildcard rule":              {"example.foo.ck", nil},
		"exception rule":             {"www.ck", nil},
		"parent of private suffixes": {"amazonaws.com", nil},
		"ICANN suffix":               {"co.uk", ErrNotRegistrable},
		"suffix by wildcard":         {"foo.ck", ErrNotRegistrable},
		"private suffix":             {"github.io", ErrNotRegistrable},
		"host":                       {"www.example.com", ErrNotRegistrable},
		"deep host":                  {"a.b.example.co.uk", ErrNotRegistrable},
		"below an exception":         {"a.www.ck", ErrNotRegistrable},
		"below a private suffix":     {"foo.github.io", ErrUnsupportedTLD},
		"unknown top level":          {"example.notatld", ErrUnsupportedTLD},
		"special use":                {"example.test", ErrUnsupportedTLD},
		"onion":                      {"example.onion", ErrUnsupportedTLD},
		"arpa":                       {"2.0.192.in-addr.arpa", ErrUnsupportedTLD},
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
		assert.Check(t, Registrable(name), name)
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

var seeds = []string{
	"", ".", "example.com", "EXAMPLE.com.", "Bücher.Example", "xn--bcher-kva.example", "xn--.com", "xn--a.com",
	"straße.de", "例え。jp", "\uff45\uff38ample\uff0ecom", "1.מבחן.example", "i❤.ws", "_dmarc.example.com", "192.0.2.1",
	"[2001:db8::1]", "a\u0338=.com", "\u00ad.com", "a…b.com", "b\xfccher.example", "*.example.com", "co.uk", "www.ck",
	strings.Repeat("ü", 60) + ".com", name253, "\u1e9e.com", "xn--ab-.com", "\u1e9e\u200d.example", "a。", "\u212a.example",
}

func FuzzNormalize(f *testing.F) {
	fuzz(f, Normalize)
}

func FuzzNormalizeHost(f *testing.F) {
	fuzz(f, NormalizeHost)
}

func FuzzNormalizeLabels(f *testing.F) {
	fuzz(f, NormalizeLabels)
}

func fuzz(f *testing.F, normalize func(string) (string, error)) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := normalize(s)
		if err != nil {
			assert.Check(t, got == "", "%q with an error", got)
			return
		}
		again, err := normalize(got)
		assert.Check(t, err == nil && again == got, "%q became %q, then %q, %v", s, got, again, err)
		again, err = normalize(Unicode(got))
		assert.Check(t, err == nil && again == got, "%q became %q, shown as %q, which becomes %q, %v", s, got, Unicode(got), again, err)
		assert.Check(t, strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "", "%q became %q, which has other characters", s, got)
		n, ok := dns.IsDomainName(got)
		assert.Check(t, ok && n == strings.Count(got, ".")+1, "%q became %q, which the DNS library rejects", s, got)
	})
}

func FuzzRegistrable(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := Normalize(s)
		if got := Registrable(s); err != nil && got == nil {
			t.Errorf("Registrable(%q) = nil although Normalize rejects it", s)
		} else if err == nil && (got == nil) != (Registrable(name) == nil) {
			t.Errorf("Registrable differs for %q and %q", s, name)
		}
	})
}

func TestOrganization(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"example.com": "example.com", "a.b.example.com": "example.com", "www.example.co.uk": "example.co.uk", "co.uk": "co.uk", "com": "com",
		"a.example.github.io": "github.io", "a.example.blogspot.co.uk": "blogspot.co.uk", "mail.example.test": "example.test", "a.b.xn--bcher-kva.example": "xn--bcher-kva.example",
	} {
		assert.Check(t, is.Equal(Organization(name), want), name)
	}
}
