package httpapi_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestCheckPhone(t *testing.T) {
	for phone, ok := range map[string]bool{
		"+4930123456": true, "+12025550123": true, "+123456789012345": true,
		"": false, "030123456": false, "+0301234567": false, "+49 30 123456": false, "+1234567890123456": false, "+49": false, "+4930a23456": false, "+4930123456\n": false,
	} {
		if _, err := api.CheckPhone(phone); (err == nil) != ok {
			t.Errorf("%q: %v", phone, err)
		}
	}
}

func TestCheckCountry(t *testing.T) {
	for country, want := range map[string]string{
		"DE": "DE", "de": "DE", "Us": "US", "GB": "GB",
		"": "", "D": "", "DEU": "", "XX": "", "ZZ": "", "EU": "", "49": "", "UK": "", "XK": "", "YU": "", " D": "", "D ": "", "d\u00e9": "",
	} {
		if got, err := api.CheckCountry(country); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", country, got, err, want)
		}
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
		if _, err := api.CheckRedirectURL(url); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
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
		if got != tt.want {
			t.Errorf("%s, given %t: %q; want %q", tt.recordType, tt.given, got, tt.want)
		}
	}
}

// checkTypes compares problems by place and type: "place type, place type".
func checkTypes(t *testing.T, problems []api.Problem, want string) {
	t.Helper()
	var got []string
	for _, p := range problems {
		got = append(got, strings.Join(p.Loc[1:], ".")+" "+p.Type)
	}
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("problems: %q; want %q", s, want)
	}
}

func TestMasterPasswordRules(t *testing.T) {
	const id = "0a1b2c3d-0000-4000-8000-00000000abcd"
	for _, tt := range []struct{ name, body, want string }{
		{"value", `{"name":"n","value":"abcd"}`, ""},
		{"value and no generate", `{"name":"n","value":"abcd","generate":false}`, ""},
		{"generate", `{"name":"n","generate":true}`, ""},
		{"generate and a null value", `{"name":"n","generate":true,"value":null}`, ""},
		{"neither", `{"name":"n"}`, "value value_error"},
		{"neither, said", `{"name":"n","generate":false,"value":null}`, "value value_error"},
		{"both", `{"name":"n","generate":true,"value":"abcd"}`, "value value_error"},
		{"short", `{"name":"n","value":"abc"}`, "value string_too_short"},
		{"long", `{"name":"n","value":"` + strings.Repeat("x", 257) + `"}`, "value string_too_long"},
		{"longest", `{"name":"n","value":"` + strings.Repeat("ü", 256) + `"}`, ""},
		{"a domain", `{"name":"n","generate":true,"domain":"example.com"}`, ""},
		{"a workspace", `{"name":"n","generate":true,"workspace_id":"` + id + `"}`, ""},
		{"two scopes", `{"name":"n","generate":true,"domain":"example.com","workspace_id":"` + id + `"}`, "workspace_id value_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := send(t, api.CreateMasterPassword, "/credentials", tt.body)
			checkTypes(t, problems, tt.want)
		})
	}
}

func TestCancelPlanRules(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                            "",
		`{"cancel_at_period_end":true}`: "",
		`{"cancel_immediately":true}`:   "",
		`{"cancel_immediately":false}`:  "",
		`{"cancel_at_period_end":false,"cancel_immediately":true}`:  "",
		`{"cancel_at_period_end":true,"cancel_immediately":false}`:  "",
		`{"cancel_at_period_end":null,"cancel_immediately":null}`:   "",
		`{"cancel_at_period_end":true,"cancel_immediately":true}`:   "cancel_at_period_end value_error",
		`{"cancel_at_period_end":false,"cancel_immediately":false}`: "cancel_at_period_end value_error",
		`{"cancel_at_period_end":false}`:                            "cancel_at_period_end value_error",
		`{"cancel_at_period_end":"yes"}`:                            "cancel_at_period_end bool_type",
	} {
		_, problems := send(t, api.CancelPlan, "/billing/cancel-plan", body)
		checkTypes(t, problems, want)
	}
}

func TestDNSRecordRules(t *testing.T) {
	for _, tt := range []struct{ fields, want string }{
		{`"name":"@","type":"A","value":"192.0.2.1"`, ""},
		{`"name":"@","type":"MX","value":"mx.example.net","prio":0`, ""},
		{`"name":"@","type":"MX","value":"mx.example.net"`, "prio missing"},
		{`"name":"@","type":"MX","value":"mx.example.net","prio":null`, "prio missing"},
		{`"name":"@","type":"MX","value":"mx.example.net","prio":65536`, "prio less_than_equal"},
		{`"name":"@","type":"MX","value":"10 mx.example.net","prio":1`, "value value_error"},
		{`"name":"@","type":"A","value":"192.0.2.1","prio":1`, "prio value_error"},
		{`"name":"a..b","type":"A","value":"x","prio":1,"ttl":59`, "ttl greater_than_equal, name value_error, value value_error, prio value_error"},
		{`"name":"@","type":"PTR","value":"x"`, "type enum"},
		{`"name":"@","type":"a","value":"192.0.2.1"`, "type enum"},
		{`"type":"TXT","value":""`, "name missing, value string_too_short"},
	} {
		t.Run(tt.fields, func(t *testing.T) {
			_, problems := send(t, api.CreateDNSRecord, "/dns-records", `{"domain":"example.com",`+tt.fields+`}`)
			checkTypes(t, problems, tt.want)
		})
	}
}

func TestPurchaseRules(t *testing.T) {
	contact := func(country, email, phone string) string {
		return `{"workspace_id":"0a1b2c3d-0000-4000-8000-00000000abcd","domains":["example.com"],"contact_info":{"address_1":"a","city":"c","country":"` + country +
			`","email":"` + email + `","first_name":"f","last_name":"l","organization":"o","phone":"` + phone + `","state":"s","zip":"z"}}`
	}
	for _, tt := range []struct{ name, body, want string }{
		{"valid", contact("DE", "jane@example.com", "+4930123456"), ""},
		{"lower case country", contact("de", "jane@example.com", "+4930123456"), ""},
		{"all wrong", contact("XX", "jane", "123"), "contact_info.country value_error, contact_info.email value_error, contact_info.phone value_error"},
		{"country of three letters", contact("DEU", "jane@example.com", "+4930123456"), "contact_info.country string_too_long"},
		{"display name", contact("DE", "Jane <jane@example.com>", "+4930123456"), "contact_info.email value_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := send(t, api.PurchaseDomains, "/domains/purchase", tt.body)
			checkTypes(t, problems, tt.want)
		})
	}
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

func TestLimitsOf(t *testing.T) {
	name := api.LimitsOf[api.CreateMasterPasswordBody]("value")
	if *name.MinLength != 4 || *name.MaxLength != 256 || name.LengthRule() != "must have 4 to 256 characters" {
		t.Errorf("value: %+v", name)
	}
	if ttl := api.LimitsOf[api.CreateDNSRecordBody]("ttl"); *ttl.Minimum != 60 || *ttl.Maximum != 86400 || ttl.MaxLength != nil {
		t.Errorf("ttl: %+v", ttl)
	}
	if typ := api.LimitsOf[api.CreateDNSRecordBody]("type"); len(typ.Enum) != 8 {
		t.Errorf("type: %+v", typ)
	}
	defer func() {
		if recover() == nil {
			t.Error("a field that does not exist has limits")
		}
	}()
	api.LimitsOf[api.CreateDNSRecordBody]("no_such_field")
}
