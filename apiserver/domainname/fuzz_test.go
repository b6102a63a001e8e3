package domainname

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"
)

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
