package dnszone

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestExcludes checks that only a record that the steps contradict is deleted before them.
func TestExcludes(t *testing.T) {
	t.Parallel()
	null, mx := step{record: record{recordKey{"@", "MX"}, ".", 0}}, record{recordKey{"@", "MX"}, "mx.example.net", 10}
	assert.Check(t, excludes(mx, []step{null}) && !excludes(mx, []step{{record: mx}}) && !excludes(record{recordKey: recordKey{"@", "A"}}, []step{null}))
}

// TestPatterns checks which records a pattern of ignore matches.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]struct{ matches, others []recordKey }{
		"www":                  {[]recordKey{{"www", "A"}, {"www", "TXT"}}, []recordKey{{"@", "A"}, {"a.www", "A"}, {"www2", "A"}}},
		"WWW.Example.com. a":   {[]recordKey{{"www", "A"}}, []recordKey{{"www", "AAAA"}, {"www.example", "A"}}},
		"@ MX,txt":             {[]recordKey{{"@", "MX"}, {"@", "TXT"}}, []recordKey{{"@", "A"}, {"www", "MX"}}},
		"example.com":          {[]recordKey{{"@", "MX"}}, []recordKey{{"example", "A"}}},
		"*":                    {[]recordKey{{"www", "A"}, {"*", "A"}}, []recordKey{{"@", "A"}, {"a.b", "A"}}},
		"*.dyn":                {[]recordKey{{"a.dyn", "A"}, {"*.dyn", "A"}}, []recordKey{{"dyn", "A"}, {"a.b.dyn", "A"}}},
		"_acme-challenge**":    {[]recordKey{{"_acme-challenge", "TXT"}, {"_acme-challenge.a.b", "TXT"}}, []recordKey{{"a._acme-challenge", "TXT"}}},
		"**.dev":               {[]recordKey{{"a.dev", "A"}, {"a.b.dev", "A"}}, []recordKey{{"dev", "A"}, {"adev", "A"}}},
		"** TXT":               {[]recordKey{{"@", "TXT"}, {"a.b", "TXT"}}, []recordKey{{"@", "A"}}},
		"host?":                {[]recordKey{{"host1", "A"}}, []recordKey{{"host", "A"}, {"host12", "A"}, {"host.", "A"}}},
		"*.Bücher.example.com": {[]recordKey{{"a.xn--bcher-kva", "A"}}, []recordKey{{"a.bucher", "A"}}},
	} {
		p, err := parsePattern(pattern, "example.com")
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		for _, k := range want.matches {
			assert.Check(t, p.matches(k), "%s does not match %s", pattern, k)
		}
		for _, k := range want.others {
			assert.Check(t, !p.matches(k), "%s matches %s", pattern, k)
		}
	}
}
