package domainname

import (
	"errors"
	"testing"
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
			t.Parallel()
			if err := Registrable(tt.in); !errors.Is(err, tt.want) {
				t.Errorf("Registrable(%q) = %v; want %v", tt.in, err, tt.want)
			}
		})
	}
}

func TestRegistrableInvalid(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "com", "_a.com", "192.0.2.1"} {
		err := Registrable(in)
		if err == nil || errors.Is(err, ErrUnsupportedTLD) || errors.Is(err, ErrNotRegistrable) {
			t.Errorf("Registrable(%q) = %v; want the error of Normalize", in, err)
		}
	}
}
