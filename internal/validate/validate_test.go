package validate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// limits has no lower bound.
type limits struct {
	Most string `json:"most" maxLength:"2"`
}

var (
	most    = validate.Length[limits]("most")
	name    = validate.Length[api.CreateMailboxBody]("first_name")
	secret  = validate.Length[api.CreateMasterPasswordBody]("value")
	typ     = validate.OneOf[api.CreateDNSRecordBody]("type")
	ttl     = validate.Range[api.CreateDNSRecordBody]("ttl")
	prio    = validate.Range[api.CreateDNSRecordBody]("prio")
	address = validate.Rule("an e-mail address", oneAt)
)

func oneAt(s string) (string, error) {
	const reason = "address must contain one @, as in jane@example.com." // a name may end in a dot
	if strings.Count(s, "@") != 1 {
		return "", errors.New(reason)
	}
	return s, nil
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v        validator.Describer
		plain    string
		markdown string // if it differs
	}{
		{v: most, plain: "at most 2 characters long"},
		{v: name, plain: "1 to 100 characters long"},
		{v: secret, plain: "4 to 256 characters long"},
		{v: typ, plain: "one of A, AAAA, CAA, CNAME, MX, NS, SRV, TXT", markdown: "one of `A`, `AAAA`, `CAA`, `CNAME`, `MX`, `NS`, `SRV`, `TXT`"},
		{v: ttl, plain: "between 60 and 86400"},
		{v: prio, plain: "between 0 and 65535"},
		{v: address, plain: "an e-mail address"},
		{v: validate.Phone(), plain: "a phone number with its country code, such as +4930123456 (E.164)"},
		{v: validate.Country(), plain: "a two-letter country code of ISO 3166, such as DE"},
	} {
		assert.Check(t, is.Equal(tt.v.Description(t.Context()), tt.plain), "Description()")
		if tt.markdown == "" {
			tt.markdown = tt.plain
		}
		assert.Check(t, is.Equal(tt.v.MarkdownDescription(t.Context()), tt.markdown), "MarkdownDescription()")
	}
}

// checkString returns the detail of the only error about a value.
func checkString(t *testing.T, v validator.String, req validator.StringRequest) string {
	t.Helper()
	resp := validator.StringResponse{}
	v.ValidateString(t.Context(), req, &resp)
	assert.Check(t, len(resp.Diagnostics) <= 1 && len(resp.Diagnostics) == resp.Diagnostics.ErrorsCount(), "diagnostics are %v", resp.Diagnostics)
	for _, d := range resp.Diagnostics {
		return d.Detail()
	}
	return ""
}

func TestStrings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v     validator.String
		value types.String
		want  string
	}{
		{most, types.StringValue("äöü"), "thing must be at most 2 characters long; it has 3."},
		{most, types.StringValue("äö"), ""},
		{most, types.StringValue(""), ""},
		{name, types.StringValue(""), "thing must be 1 to 100 characters long; it has 0."},
		{name, types.StringValue("a"), ""},
		{name, types.StringValue("a\nb"), "thing must not contain a control character such as a line break or a tab."},
		{name, types.StringValue(strings.Repeat("ü", 100)), ""},
		{name, types.StringValue(strings.Repeat("a", 101)), "thing must be 1 to 100 characters long; it has 101."},
		{typ, types.StringValue("TXT"), ""},
		{typ, types.StringValue("txt "), `thing must be one of A, AAAA, CAA, CNAME, MX, NS, SRV, TXT, got "txt "; write "TXT".`},
		{typ, types.StringValue("PTR"), `thing must be one of A, AAAA, CAA, CNAME, MX, NS, SRV, TXT, got "PTR".`},
		{typ, types.StringValue(""), `thing must be one of A, AAAA, CAA, CNAME, MX, NS, SRV, TXT, got "".`},
		{address, types.StringValue("Jane@Example.com"), ""},
		{address, types.StringValue("jane"), "thing must be an e-mail address: address must contain one @, as in jane@example.com, got \"jane\"."},
		{address, types.StringValue(""), "thing must be an e-mail address: address must contain one @, as in jane@example.com; it is empty."},
		{validate.Phone(), types.StringValue("+4930123456"), ""},
		{validate.Phone(), types.StringValue("030 123456"), "thing must be an E.164 number with its country code, for instance +4930123456, got \"030 123456\"."},
		{validate.Country(), types.StringValue("de"), ""},
		{validate.Country(), types.StringValue("XX"), "thing must be a two-letter country code of ISO 3166, for instance DE, got \"XX\"."},
		{validate.Rule("a URL", api.CheckRedirectURL), types.StringValue("ftp://example.com"), "thing must be an absolute http or https URL without credentials, for instance https://www.example.com/, got \"ftp://example.com\"."},
		{validate.Rule("a URL", api.CheckRedirectURL), types.StringValue("https://jane:s3cret@example.com"), "thing must be an absolute http or https URL without credentials, for instance https://www.example.com/."},
	} {
		assert.Check(t, is.Equal(checkString(t, tt.v, validator.StringRequest{Path: path.Root("thing"), ConfigValue: tt.value}), tt.want), "%s", tt.value)
	}
}

func TestRange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v     validator.Int64
		value int64
		want  string
	}{
		{ttl, 60, ""},
		{ttl, 86400, ""},
		{ttl, 59, "thing must be between 60 and 86400, got 59."},
		{ttl, 86401, "thing must be between 60 and 86400, got 86401."},
		{prio, 0, ""},
		{prio, -1, "thing must be between 0 and 65535, got -1."},
	} {
		resp := validator.Int64Response{}
		tt.v.ValidateInt64(t.Context(), validator.Int64Request{Path: path.Root("thing"), ConfigValue: types.Int64Value(tt.value)}, &resp)
		got := ""
		for _, d := range resp.Diagnostics {
			got += d.Detail()
		}
		assert.Check(t, got == tt.want, "%d: %q, want %q", tt.value, got, tt.want)
	}
}

// TestNoLimit checks that a validator without a limit in the contract names the missing tag.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	const begin, end = `validate: the field "domain" of api.CreateMailboxBody has no limit to validate; declare it there with the tags `, ", or remove the validator"
	for tags, validator := range map[string]func(){
		`maxLength:"…"`:           func() { validate.Length[api.CreateMailboxBody]("domain") },
		`enum:"…"`:                func() { validate.OneOf[api.CreateMailboxBody]("domain") },
		`minimum:"…" maximum:"…"`: func() { validate.Range[api.CreateMailboxBody]("domain") },
	} {
		func() {
			defer func() { assert.Check(t, is.Equal(recover(), begin+tags+end)) }()
			validator()
		}()
	}
}

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	nested := schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{"inner": schema.StringAttribute{Optional: true}}}
	config := tfsdk.Config{Schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"open":      schema.StringAttribute{Optional: true},
		"sensitive": schema.StringAttribute{Optional: true, Sensitive: true},
		"write":     schema.StringAttribute{Optional: true, WriteOnly: true},
		"list":      schema.ListAttribute{Optional: true, Sensitive: true, ElementType: types.StringType},
		"objects":   schema.ListNestedAttribute{Optional: true, Sensitive: true, NestedObject: nested},
		"known":     schema.ListNestedAttribute{Optional: true, NestedObject: nested},
	}}}
	quoting := validate.Rule("a rule", func(s string) (string, error) { return "", errors.New("not " + s) })
	for _, tt := range []struct {
		at     path.Path
		hidden bool
	}{
		{path.Root("open"), false},
		{path.Root("known").AtListIndex(0).AtName("inner"), false},
		{path.Root("sensitive"), true},
		{path.Root("write"), true},
		{path.Root("list").AtListIndex(0), true},
		{path.Root("objects").AtListIndex(0).AtName("inner"), true},
		{path.Root("no_such_attribute").AtListIndex(0), false},
	} {
		for _, v := range []validator.String{typ, quoting} {
			got := checkString(t, v, validator.StringRequest{Path: tt.at, Config: config, ConfigValue: types.StringValue("hunter2")})
			assert.Check(t, got != "" && strings.Contains(got, "hunter2") != tt.hidden, "%s: %q", tt.at, got)
		}
		got := checkString(t, secret, validator.StringRequest{Path: tt.at, Config: config, ConfigValue: types.StringValue("pwd")})
		assert.Check(t, got != "" && strings.Contains(got, "it has 3") != tt.hidden, "%s: %q", tt.at, got)
		resp := validator.Int64Response{}
		ttl.ValidateInt64(t.Context(), validator.Int64Request{Path: tt.at, Config: config, ConfigValue: types.Int64Value(47)}, &resp)
		got = fmt.Sprint(resp.Diagnostics)
		assert.Check(t, strings.Contains(got, "47") != tt.hidden, "%s: %q", tt.at, got)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	bounded, open := validate.Duration(time.Minute, 24*time.Hour), validate.Duration(90*time.Minute, 0)
	const noDuration = "lifetime must be a duration of hours, minutes and seconds, such as 90m or 720h; a day is 24h"
	for _, tt := range []struct {
		v     validator.String
		value types.String
		want  string
	}{
		{bounded, types.StringValue("1m"), ""},
		{bounded, types.StringValue("24h"), ""},
		{bounded, types.StringValue("1h30m"), ""},
		{bounded, types.StringNull(), ""},
		{bounded, types.StringUnknown(), ""},
		{bounded, types.StringValue("59s"), "lifetime must be from 1m to 24h, got \"59s\"."},
		{bounded, types.StringValue("24h0m1s"), "lifetime must be from 1m to 24h, got \"24h0m1s\"."},
		{bounded, types.StringValue("-1h"), "lifetime must be from 1m to 24h, got \"-1h\"."},
		{bounded, types.StringValue("1d"), noDuration + `, got "1d".`},
		{bounded, types.StringValue("3600"), noDuration + `, got "3600".`},
		{bounded, types.StringValue(""), noDuration + "; it is empty."},
		{open, types.StringValue("87600h"), ""},
		{open, types.StringValue("1h"), "lifetime must be at least 1h30m, got \"1h\"."},
	} {
		resp := &validator.StringResponse{}
		tt.v.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("lifetime"), ConfigValue: tt.value}, resp)
		got := ""
		for _, d := range resp.Diagnostics {
			got += d.Detail()
		}
		assert.Check(t, got == tt.want, "%s: %q, want %q", tt.value, got, tt.want)
	}
	assert.Check(t, is.Equal(bounded.Description(t.Context()), "a duration such as 90m or 720h, from 1m to 24h"), "the description")
}
