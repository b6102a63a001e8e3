package httpapi_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestCheckPhone(t *testing.T) {
	for phone, ok := range map[string]bool{
		"+4930123456": true, "+12025550123": true, "+123456789012345": true,
		"": false, "030123456": false, "+0301234567": false, "+49 30 123456": false, "+1234567890123456": false, "+49": false, "+4930a23456": false, "+4930123456\n": false,
	} {
		_, err := api.CheckPhone(phone)
		assert.Check(t, (err == nil) == ok, "%q: %v", phone, err)
	}
}

func TestCheckCountry(t *testing.T) {
	for country, want := range map[string]string{
		"DE": "DE", "de": "DE", "Us": "US", "GB": "GB",
		"": "", "D": "", "DEU": "", "XX": "", "ZZ": "", "EU": "", "49": "", "UK": "", "XK": "", "YU": "", " D": "", "D ": "", "d\u00e9": "",
	} {
		got, err := api.CheckCountry(country)
		assert.Check(t, got == want && (err == nil) == (want != ""), "%q: %q, %v; want %q", country, got, err, want)
	}
}

func TestCheckRedirectURL(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://example.com": true, "http://example.com:8080/a?b#c": true, "HTTPS://example.com/": true, "https://[2001:db8::1]/": true, "https://bücher.example/": true,
		"": false, "example.com": false, "//example.com": false, "ftp://example.com/": false, "javascript:alert(1)": false,
		"https://": false, "https:///path": false, "https://user:pass@example.com/": false, "https://a b/": false, "https://:80/": false, " https://example.com": false,
		"https://x.org/ b": false, "https://x.org/b ": false, "https://x.org/a?b c": false, "https://x.org/#b c": false, "https://x.org/\tb": false, "https://x.org/b\n": false,
		"https://x.org/\u00a0b": false, "https://x.org/\u2028b": false, "https://x.org/\u0085": false, "https://x.org/\x00": false, "https://x.org/\x7f": false,
		"https://x.org/%20b": true, "https://x.org/bücher?ü=ß#é": true, "https://%C2%A0.org/": false, "https://x%E2%80%A8.org/": false, "https://b%C3%BCcher.example/": true,
		"https://x.org:0/": false, "https://x.org:00/": false, "https://x.org:65536/": false, "https://x.org:99999999999999999999/": false, "https://x.org:-1/": false, "https://x.org:x/": false,
		"https://x.org:65535/": true, "https://x.org:1/": true, "https://x.org:/": true, "https://[2001:db8::1]:65536/": false, "https://[2001:db8::1]:443/": true,
		"https://user@example.com/": false, "https://@example.com/": false, "https://:@example.com/": false, "https://user:pass@/": false,
		"https://?a": false, "https://#a": false, "https://:443": false, "https://[]/": false, "https://./": false, "https:example.com": false, "https:/example.com": false,
	} {
		_, err := api.CheckRedirectURL(url)
		assert.Check(t, (err == nil) == ok, "%q: %v", url, err)
	}
}

func TestCheckPriority(t *testing.T) {
	for _, tt := range []struct {
		recordType string
		given      bool
		want       string
	}{
		{"MX", true, ""}, {"SRV", true, ""}, {"A", false, ""}, {"TXT", false, ""},
		{"MX", false, "missing"}, {"SRV", false, "missing"}, {"A", true, "value_error"}, {"CNAME", true, "value_error"},
	} {
		got := ""
		if p := api.CheckPriority(tt.recordType, tt.given); p != nil {
			got = p.Type
		}
		assert.Check(t, got == tt.want, "%s, given %t: %q; want %q", tt.recordType, tt.given, got, tt.want)
	}
}

// checkTypes compares problems with want, in the form "place type, place type".
func checkTypes(t *testing.T, problems []api.Problem, want string) {
	t.Helper()
	var got []string
	for _, p := range problems {
		got = append(got, strings.Join(p.Loc[1:], ".")+" "+p.Type)
	}
	assert.Check(t, is.Equal(strings.Join(got, ", "), want), "problems")
}

func TestGrantRules(t *testing.T) {
	const subject, id = `"subject_type":"user","subject_id":"u",`, `"resource_id":"0a1b2c3d-0000-4000-8000-00000000abcd"`
	for _, tt := range []struct{ fields, want string }{
		{`"grant_kind":"account_owner"`, ""},
		{`"grant_kind":"capability","capability_key":"mailbox.view"`, ""},
		{`"grant_kind":"capability","capability_key":"mailbox.view","resource_type":"domain",` + id, ""},
		{`"grant_kind":"capability"`, "capability_key missing"},
		{`"grant_kind":"capability","capability_key":"mailbox.fly"`, "capability_key value_error"},
		{`"grant_kind":"account_owner","capability_key":"mailbox.view"`, "capability_key value_error"},
		{`"grant_kind":"capability","capability_key":"mailbox.view","resource_type":"domain"`, "resource_id missing"},
		{`"grant_kind":"capability","capability_key":"mailbox.view",` + id, "resource_type missing"},
		{`"grant_kind":"account_owner","resource_type":"domain",` + id, "resource_type value_error"},
		{`"grant_kind":"capability","capability_key":"mailbox.view","resource_type":"mailbox",` + id, "resource_type enum"},
	} {
		t.Run(tt.fields, func(t *testing.T) {
			_, problems := send(t, api.GrantAuthorization, "/auth/authorizations", "{"+subject+tt.fields+"}")
			checkTypes(t, problems, tt.want)
		})
	}
}
