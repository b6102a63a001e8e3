package maildns

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestMTASTSRecord(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{ // the first one is from RFC 8461, section 3.1
		"20160831085700Z": "v=STSv1; id=20160831085700Z;", "a": "v=STSv1; id=a;", strings.Repeat("Z", 32): "v=STSv1; id=" + strings.Repeat("Z", 32) + ";",
	} {
		got, err := MTASTSRecord(id)
		assert.Check(t, err == nil && got == want, "got %q, %v; want %q", got, err, want)
	}
	for _, id := range []string{"", strings.Repeat("a", 33), "2016-08-31", "a_b", "a;b", "é", "ő"} {
		got, err := MTASTSRecord(id)
		wantProblem(t, got, err, "id: must be 1 to 32 ASCII letters and digits")
	}
}

// rfc8461 is the policy of RFC 8461, section 3.2.
const rfc8461 = "version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmx: backupmx.example.com\r\nmax_age: 604800\r\n"

func TestMTASTSPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   MTASTSPolicy
		want string
	}{
		"of the RFC": {MTASTSPolicy{"enforce", []string{"mail.example.com", "*.example.net", "backupmx.example.com"}, 604800}, rfc8461},
		"testing":    {MTASTSPolicy{"testing", []string{"*.Bücher.example."}, 31557600}, "version: STSv1\r\nmode: testing\r\nmx: *.xn--bcher-kva.example\r\nmax_age: 31557600\r\n"},
		"withdrawn":  {MTASTSPolicy{"none", nil, 0}, "version: STSv1\r\nmode: none\r\nmax_age: 0\r\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.in.Text()
			assert.Assert(t, err == nil && got == tt.want, "got %q, %v; want %q", got, err, tt.want)
			assert.Check(t, checkMTASTSPolicy(strings.ReplaceAll(got, "\r\n", "\n")))
		})
	}
}

func TestMTASTSPolicyProblems(t *testing.T) {
	t.Parallel()
	mx := []string{"mail.example.com"}
	tests := map[string]struct {
		in   MTASTSPolicy
		want string
	}{
		"mode":           {MTASTSPolicy{"report", mx, 1}, `mode: must be enforce or testing or none, not "report"`},
		"no host":        {MTASTSPolicy{"enforce", nil, 1}, "mx: must contain at least one mail host"},
		"age over":       {MTASTSPolicy{"enforce", mx, 31557601}, "max_age: must be a whole number from 0 to 31557600, not 31557601"},
		"age under":      {MTASTSPolicy{"enforce", mx, -1}, "max_age: "},
		"wildcard":       {MTASTSPolicy{"enforce", []string{"*"}, 1}, "mx[0]: \"*\" must have a wildcard only as its whole first label"},
		"inner wildcard": {MTASTSPolicy{"enforce", []string{"mail.*.example.com"}, 1}, "only as its whole first label"},
		"two wildcards":  {MTASTSPolicy{"enforce", []string{"*.*.example.com"}, 1}, "only as its whole first label"},
		"part of label":  {MTASTSPolicy{"enforce", []string{"mx*.example.com"}, 1}, "only as its whole first label"},
		"wide wildcard":  {MTASTSPolicy{"enforce", []string{"*.com"}, 1}, "two labels"},
		"preference":     {MTASTSPolicy{"enforce", []string{"10 mail.example.com"}, 1}, "must not contain ' '"},
		"address":        {MTASTSPolicy{"enforce", []string{"192.0.2.1"}, 1}, "IP address"},
		"line break":     {MTASTSPolicy{"enforce", []string{"mail.example.com\nmode: none"}, 1}, "mx[0]: "},
		"twice":          {MTASTSPolicy{"enforce", []string{"a.example.com", "A.example.com."}, 1}, "mx[1]: \"a.example.com\" repeats element"},
		"several":        {MTASTSPolicy{"x", nil, -1}, "\nmx: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.in.Text()
			wantProblem(t, got, err, tt.want)
		})
	}
}

func TestCheckMTASTSPolicy(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"CRLF": rfc8461, "LF": strings.ReplaceAll(rfc8461, "\r", ""), "no last line end": strings.TrimSuffix(rfc8461, "\r\n"),
		"unknown key": rfc8461 + "x-note: a:b\r\n", "spaces": strings.ReplaceAll(rfc8461, ": ", ":\t "), "none": strings.ReplaceAll(rfc8461, ": ", ":"),
	} {
		assert.Check(t, checkMTASTSPolicy(text), name)
	}
	replaced := func(old, replacement string) string { return strings.Replace(rfc8461, old, replacement, 1) }
	for text, want := range map[string]string{
		"": "line 1 must be a key and a value", "mode: enforce\n": "one line version, not 0", replaced("version: STSv1\r\n", ""): "one line version, not 0", replaced("STSv1", "STSv2"): "version must be STSv1",
		replaced("enforce", "on"): `mode: must be`, replaced("604800", "week"): "max_age must be a number", replaced("604800", "-1"): "max_age must be a number", replaced("604800", "31557601"): "max_age: must be",
		replaced("mode: enforce", "mode: enforce\r\nmode: none"): "one line mode, not 2", replaced("mx: mail", "\r\nmx: mail"): "line 3 must be a key", replaced("*.example.net", "*"): "mx[1]: ",
		"v=STSv1; id=1;": "line 1 must be a key", rfc8461 + "x": "line 7 must be a key", rfc8461 + "# see https://example.com": "line 7 must be a key",
	} {
		wantProblem(t, "", checkMTASTSPolicy(text), "policy: ", want)
	}
}

func TestMTASTSID(t *testing.T) {
	t.Parallel()
	id, err := MTASTSID(rfc8461)
	assert.Check(t, err == nil && id == "b7c7f8ecaf8c62bfd6c88412f7c35d06", "got %q, %v", id, err)
	_, err = MTASTSRecord(id)
	assert.Check(t, err)
	other, err := MTASTSID(strings.Replace(rfc8461, "enforce", "testing", 1))
	assert.Check(t, err == nil && other != id, "another policy: %q, %v", other, err)
	got, err := MTASTSID("mode: enforce")
	wantProblem(t, got, err, "policy: ")
}
