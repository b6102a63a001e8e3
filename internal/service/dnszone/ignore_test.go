package dnszone

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// TestExcludes checks that only a record that the steps contradict is deleted before them, and the
// order of records.
func TestExcludes(t *testing.T) {
	t.Parallel()
	a, b := record{recordKey{"@", "A"}, "192.0.2.9", -1}, record{recordKey{"a", "A"}, "192.0.2.1", -1}
	for _, all := range [][]record{{a, b}, {b, record{recordKey{"a", "MX"}, "a", 1}, record{recordKey{"a", "MX"}, "b", 1}, record{recordKey{"a", "MX"}, "a", 2}}} {
		assert.Check(t, slices.IsSortedFunc(all, record.compare))
	}
	null, mx := step{record: record{recordKey{"@", "MX"}, ".", 0}}, record{recordKey{"@", "MX"}, "mx.example.net", 10}
	assert.Check(t, excludes(mx, []step{null}) && !excludes(mx, []step{{record: mx}}) && !excludes(a, []step{null}))
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
