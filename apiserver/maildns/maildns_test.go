package maildns

import "testing"

// TestForeignCharacters inserts characters that look like ASCII, or like nothing, at each place of a
// value. The record is in ASCII, or there is an error.
func TestForeignCharacters(t *testing.T) {
	t.Parallel()
	for value, build := range map[string]func(string) (string, error){
		"include:_spf.example.com": func(s string) (string, error) { return SPF{Terms: []string{s}, Default: "-all"}.Record() },
		"ip4:192.0.2.0/24":         func(s string) (string, error) { return SPF{Terms: []string{s}, Default: "-all"}.Record() },
		"~all":                     func(s string) (string, error) { return SPF{Default: s}.Record() },
		"exists:%{i}.example.com":  func(s string) (string, error) { return SPF{Terms: []string{s}, Default: "-all"}.Record() },
		"reject":                   func(s string) (string, error) { return DMARC{P: s}.Record() },
		"mailto:a@example.com":     func(s string) (string, error) { return DMARC{P: "none", RUA: []string{s}}.Record() },
		"b@example.com!10m":        func(s string) (string, error) { return DMARC{P: "none", RUF: []string{s}}.Record() },
		ed25519Base64:              func(s string) (string, error) { return DKIM{PublicKey: s}.Record() },
		"a note":                   func(s string) (string, error) { return DKIM{Revoked: true, N: s}.Record() },
		"20261124T000000":          MTASTSRecord,
		"https://example.com/tls":  func(s string) (string, error) { return TLSRPTRecord([]string{s}) },
	} {
		for _, foreign := range []string{"\u00a0", "\u2003", "\u200b", "\u00ad", "\ufeff", "\u0085", "\u2013", "\u2011", "\u201c", "\u0430", "ü", "\uff1b", "\xa0"} {
			for i := range len(value) + 1 {
				if record, err := build(value[:i] + foreign + value[i:]); err == nil {
					checkRecord(t, record)
				}
			}
		}
	}
}
