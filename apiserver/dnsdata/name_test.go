package dnsdata

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
)

const zone = "example.com"

var (
	label63 = strings.Repeat("a", 63)
	// name241 is the longest relative name in the zone example.com.
	name241 = strings.Repeat(label63+".", 3) + strings.Repeat("b", 49)
)

func TestNormalizeName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, zone, want string
	}{
		"apex":                         {"@", zone, "@"},
		"relative":                     {"WWW", zone, "www"},
		"absolute":                     {"www.Example.com.", zone, "www"},
		"absolute apex":                {"EXAMPLE.com.", zone, "@"},
		"full without dot":             {"www.example.com", zone, "www"},
		"zone without dot":             {"example.com", zone, "@"},
		"zone in any spelling":         {"www.example.com", "Example.COM.", "www"},
		"not at a label boundary":      {"www-example.com", zone, "www-example.com"},
		"other zone, no dot":           {"www.example.org", zone, "www.example.org"},
		"underscores":                  {"_dmarc", zone, "_dmarc"},
		"IDN label":                    {"Bücher", zone, "xn--bcher-kva"},
		"IDN zone":                     {"www.bücher.example", "xn--bcher-kva.example", "www"},
		"wildcard":                     {"*", zone, "*"},
		"wildcard below":               {"*.WWW", zone, "*.www"},
		"wildcard, full":               {"*.www.example.com", zone, "*.www"},
		"longest":                      {name241, zone, name241},
		"zone of repeated labels":      {"a.a.a", "a.a", "a"},
		"no zone: relative":            {"WWW", "", "www"},
		"no zone: apex":                {"@", "", "@"},
		"no zone: absolute":            {"www.Example.com.", "", "www.example.com."},
		"no zone: full without dot":    {"www.example.com", "", "www.example.com"},
		"no zone: wildcard":            {"*.Example.com.", "", "*.example.com."},
		"no zone: IDN, absolute":       {"bücher.example.", "", "xn--bcher-kva.example."},
		"zone's first label as a name": {"example", zone, "example"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := NormalizeName(tt.name, tt.zone)
			assert.Assert(t, err == nil && got == tt.want, "NormalizeName(%q, %q) = %q, %v; want %q", tt.name, tt.zone, got, err, tt.want)
			again, err := NormalizeName(got, tt.zone)
			assert.Check(t, err == nil && again == got, "NormalizeName(%q, %q) = %q, %v; want it unchanged", got, tt.zone, again, err)
			if tt.zone != "" {
				if z, err := domainname.Normalize(tt.zone); err == nil {
					checkNameOracle(t, got, z)
				}
			}
			err = ValidateName(tt.name)
			assert.Check(t, err, "ValidateName(%q)", tt.name)
		})
	}
}

func TestNormalizeNameErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, zone, want string // want is a part of the message
	}{
		"empty":                   {"", zone, "@ for the domain itself"},
		"root":                    {".", zone, "must not be the root"},
		"apex inside":             {"@.example.com.", zone, "must not contain @"},
		"one label and dot":       {"www.", zone, "must not end in a dot"},
		"wildcard and dot":        {"*.", "", "must not contain *"},
		"outside the zone":        {"www.example.org.", zone, `outside the zone "example.com"`},
		"parent of the zone":      {"example.com.", "www.example.com", "outside the zone"},
		"not at a label boundary": {"wwwexample.com.", zone, "outside the zone"},
		"zone twice":              {"www.example.com.example.com", zone, "repeats the zone"},
		"zone twice, apex":        {"example.com.example.com.", zone, "repeats the zone"},
		"zone of repeated labels": {"a.a.a.a", "a.a", "repeats the zone"},
		"wildcard inside":         {"www.*.example.com", zone, "must not contain *"},
		"empty label":             {"a..b", zone, "empty label"},
		"long with zone":          {name241 + "b", zone, "253 characters together with its zone"},
		"long absolute":           {name241 + "b.example.com.", zone, "253 characters"},
		"long wildcard":           {"*." + name241 + "." + strings.Repeat("c", 11), "", "253 characters"},
		"bad zone":                {"www", "localhost", "invalid zone: name must have at least two labels"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := NormalizeName(tt.name, tt.zone)
			assert.Assert(t, err != nil && got == "", "NormalizeName(%q, %q) = %q, %v; want an error", tt.name, tt.zone, got, err)
			assert.Check(t, strings.Contains(err.Error(), tt.want) && len(err.Error()) <= 200, "NormalizeName(%q, %q): %v; want %q in it", tt.name, tt.zone, err, tt.want)
		})
	}
}

func TestEqualNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b, zone string
		want       bool
	}{
		{"www", "WWW.example.com.", zone, true},
		{"www", "www.example.com", zone, true},
		{"@", "example.com.", zone, true},
		{"@", "example.com", zone, true},
		{"bücher", "xn--bcher-kva", zone, true},
		{"www", "mail", zone, false},
		{"www", "www.example.org.", zone, false},
		{"www.example.org.", "www", zone, false},
		{"a b", "a b", zone, true},
		{"a b", "A b", zone, false},
		{"www", "WWW", "", true},
		{"www.example.com.", "WWW.example.com.", "", true},
		{"www.example.com.", "www.example.com", "", false},
		{"www", "www.example.com.", "", false},
	}
	for _, tt := range tests {
		got := EqualNames(tt.a, tt.b, tt.zone)
		assert.Check(t, got == tt.want, "EqualNames(%q, %q, %q) = %t; want %t", tt.a, tt.b, tt.zone, got, tt.want)
	}
}

func TestEqualsTarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, zone, target string
		want               bool
	}{
		{"www", "example.com", "www.example.com", true},
		{"WWW", "Example.com.", "www.EXAMPLE.com.", true},
		{"www.example.com.", "example.com", "www.example.com", true},
		{"@", "example.com", "example.com", true},
		{"käse", "bücher.de", "xn--kse-qla.xn--bcher-kva.de", true},
		{"_a._b", "example.com", "_A._b.example.com", true},
		{"www", "example.com", "example.com", false},
		{"www", "example.com", "www.example.net", false},
		{"@", "example.com", "www.example.com", false},
		{"*", "example.com", "a.example.com", false},
		{"www", "", "www", false},
		{"", "example.com", "example.com", false},
		{"www", "example.com", "", false},
	} {
		got := EqualsTarget(tt.name, tt.zone, tt.target)
		assert.Check(t, got == tt.want, "EqualsTarget(%q, %q, %q) = %t", tt.name, tt.zone, tt.target, got)
	}
}
