package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

const account = "/v1/public/accounts/11111111-2222-4333-8444-555555555555"

// send posts a body to an operation and returns the handled request or the problems of the 422.
func send[Req, Resp any](t *testing.T, op api.Operation[Req, Resp], path, body string) (*Req, []api.Problem) {
	t.Helper()
	var got *Req
	handler := httpapi.Bind(op, func(in *Req) { got = in })
	r := httptest.NewRequest(op.Method, account+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code == op.Status {
		return got, nil
	}
	assert.Assert(t, w.Code == http.StatusUnprocessableEntity && got == nil, "status %d, handled %t: %s", w.Code, got != nil, w.Body)
	var response struct{ Detail []api.Problem }
	assert.NilError(t, json.Unmarshal(w.Body.Bytes(), &response))
	return nil, response.Detail
}

func problem(typ, msg string, loc ...string) api.Problem {
	return api.Problem{Loc: loc, Msg: msg, Type: typ}
}

func checkProblems(t *testing.T, got []api.Problem, want ...api.Problem) {
	t.Helper()
	assert.Check(t, len(got)+len(want) == 0 || reflect.DeepEqual(got, want), "problems are\n%v; want\n%v", got, want)
}

func TestDecodeDNSRecord(t *testing.T) {
	refused := func(typ, message string) []api.Problem { return []api.Problem{problem(typ, message, "body", "ttl")} }
	for _, tt := range []struct {
		name, fields string
		ttl          int64
		problems     []api.Problem
	}{
		{"absent", ``, 3600, nil},
		{"null", `,"ttl":null`, 3600, nil},
		{"integer", `,"ttl":60`, 60, nil},
		{"integer with a fraction of zero", `,"ttl":60.0`, 60, nil},
		{"integer with an exponent", `,"ttl":6e1`, 60, nil},
		{"another case is another field", `,"TTL":1`, 3600, nil},
		{"another case after", `,"ttl":60,"TTL":1`, 60, nil},
		{"another case before", `,"TTL":1,"ttl":60`, 60, nil},
		{"a Kelvin sign does not fold", `,"ttl":60,"ⓣtl":1`, 60, nil},
		{"the last of two counts", `,"ttl":60,"ttl":61`, 61, nil},
		{"the last of two counts, to the validation too", `,"ttl":60,"ttl":1`, 0, refused("greater_than_equal", "Input should be greater than or equal to 60")},
		{"fraction", `,"ttl":60.5`, 0, refused("int_parsing", "Input should be a valid integer")},
		{"string", `,"ttl":"60"`, 0, refused("int_parsing", "Input should be a valid integer")},
		{"beyond 64 bits", `,"ttl":99999999999999999999`, 0, refused("less_than_equal", "Input should be less than or equal to 86400")},
		{"beyond a float", `,"ttl":1e999`, 0, refused("int_parsing", "Input should be a valid integer")},
		{"unknown field", `,"colour":"red"`, 3600, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, problems := send(t, api.CreateDNSRecord, "/dns-records", `{"domain":"example.com","name":"@","type":"A","value":"192.0.2.1"`+tt.fields+`}`)
			checkProblems(t, problems, tt.problems...)
			assert.Check(t, in == nil || *in.Body.TTL == tt.ttl)
		})
	}
}

func TestDecodeBrokenJSON(t *testing.T) {
	invalid := problem("json_invalid", "JSON decode error", "body")
	for _, tt := range []struct {
		name, body string
		want       api.Problem
	}{
		{"empty", ``, problem("missing", "Field required", "body")},
		{"white space", " \n", invalid},
		{"no JSON", `name=x`, invalid},
		{"cut off", `{"name":"x"`, invalid},
		{"two values", `{"name":"x"}{}`, invalid},
		{"text after", `{"name":"x"} x`, invalid},
		{"byte order mark", "\ufeff" + `{"name":"x"}`, invalid},
		{"too deep", `{"name":"x","a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, invalid},
		{"very deep", strings.Repeat("[", 500_000), invalid},
		{"array", `[]`, problem("dict_type", "Input should be a valid dictionary", "body")},
		{"string", `"x"`, problem("dict_type", "Input should be a valid dictionary", "body")},
		{"null", `null`, problem("dict_type", "Input should be a valid dictionary", "body")},
		{"number", `1`, problem("dict_type", "Input should be a valid dictionary", "body")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := send(t, api.CreateWorkspace, "/workspaces", tt.body)
			checkProblems(t, problems, tt.want)
		})
	}
	in, problems := send(t, api.CreateWorkspace, "/workspaces", `{"name":"x","a":`+strings.Repeat("[", 63)+strings.Repeat("]", 63)+`}`)
	assert.Check(t, in != nil, "64 levels are rejected: %v", problems)
}

func TestDecodeFreeForm(t *testing.T) {
	for _, tt := range []struct{ name, attributes, want string }{
		{"absent", ``, `{}`},
		{"null", `,"attributes":null`, `{}`},
		{"empty", `,"attributes":{}`, `{}`},
		{"large integer", `,"attributes":{"n":12345678901234567890123}`, `{"n":12345678901234567890123}`},
		{"exact decimal", `,"attributes":{"n":0.10000000000000000000001}`, `{"n":0.10000000000000000000001}`},
		{"beyond a float", `,"attributes":{"n":1e999}`, `{"n":1e999}`},
		{"integral float", `,"attributes":{"n":60.0}`, `{"n":60.0}`},
		{"nested", `,"attributes":{"a":[{"b":null},true,"ü<&>"]}`, `{"a":[{"b":null},true,"ü<&>"]}`},
		{"names in two cases", `,"attributes":{"a":1,"A":2}`, `{"a":1,"A":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, problems := send(t, api.SubmitFeedback, "/feedback", `{"title":"t","description":"d"`+tt.attributes+`}`)
			checkProblems(t, problems)
			got, err := in.Body.Attributes.MarshalJSON()
			assert.NilError(t, err)
			assert.Check(t, sameJSON(t, got, []byte(tt.want)), "the attributes are %s; want %s", got, tt.want)
		})
	}
	_, problems := send(t, api.SubmitFeedback, "/feedback", `{"title":"t","description":"d","attributes":[1]}`)
	checkProblems(t, problems, problem("dict_type", "Input should be a valid dictionary", "body", "attributes"))
}

// sameJSON compares two documents without converting numbers.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var values [2]any
	for i, data := range [][]byte{a, b} {
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		assert.NilError(t, dec.Decode(&values[i]))
	}
	return reflect.DeepEqual(values[0], values[1])
}

func TestDecodeNullable(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       api.Nullable[string]
	}{
		{"absent", `{}`, api.Nullable[string]{}},
		{"null", `{"redirect_url":null}`, api.Nullable[string]{Sent: true, Null: true}},
		{"value", `{"redirect_url":"https://example.com/"}`, api.Nullable[string]{Sent: true, Value: "https://example.com/"}},
		{"another case", `{"Redirect_URL":"https://example.com/"}`, api.Nullable[string]{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, problems := send(t, api.UpdateDomain, "/domains/example.com", tt.body)
			checkProblems(t, problems)
			assert.Check(t, in.Body.RedirectURL == tt.want, "redirect_url is %+v; want %+v", in.Body.RedirectURL, tt.want)
		})
	}
}

// TestEncodeNullable checks that a null redirect_url is encoded and an absent one is not. Clients
// rely on it.
func TestEncodeNullable(t *testing.T) {
	for want, value := range map[string]api.Nullable[string]{
		`{}`:                          {},
		`{"redirect_url":null}`:       api.NullableFrom[string](nil),
		`{"redirect_url":"https://"}`: api.NullableFrom(new("https://")),
	} {
		got, err := json.Marshal(api.UpdateDomainBody{RedirectURL: value})
		assert.Check(t, err == nil && string(got) == want, "%s, %v; want %s", got, err, want)
	}
}

func TestDecodeIDs(t *testing.T) {
	const canonical = "0a1b2c3d-0000-4000-8000-00000000abcd"
	for _, id := range []string{canonical, strings.ToUpper(canonical), "urn:uuid:" + canonical, "{" + canonical + "}", strings.ReplaceAll(canonical, "-", "")} {
		in, problems := send(t, api.CreateForwarding, "/forwarding", `{"target_email":"Jane@EXAMPLE.com","workspace_id":"`+id+`"}`)
		checkProblems(t, problems)
		if in != nil && (*in.Body.WorkspaceID != canonical || in.Body.TargetEmail != "jane@example.com") {
			t.Errorf("%s: decoded %q, %q", id, *in.Body.WorkspaceID, in.Body.TargetEmail)
		}
	}
}

func TestDecodeText(t *testing.T) {
	const text = `"target_email":"jane@example.com","x":`
	for value, ok := range map[string]bool{
		`"ü"`: true, `"\u00fc"`: true, `"\ud83d\ude00"`: true, `"\uD83D\uDE00\ud83d\ude00"`: true, `"\\ud83d"`: true, `"\\\ud83d\ude00"`: true, `"\n\t\"\/"`: true,
		`"\ud83d"`: false, `"\ude00\ud83d"`: false, `"\ud83dx"`: false, `"\ud83d\n"`: false, `"\ud83d\ud83d\ude00"`: false, `"\\\ud83d"`: false,
		"\"\xff\"": false, "\"Zo\xeb\"": false, "\"\xed\xa0\x80\"": false, `"\ufffd"`: true, "\"\ufffd\"": true, `"\ud83d`: false, `"\ud8`: false,
	} {
		_, got := send(t, api.CreateForwarding, "/forwarding", `{`+text+value+`}`)
		var want []api.Problem
		if !ok {
			want = []api.Problem{problem("json_invalid", "JSON decode error", "body")}
		}
		assert.Check(t, reflect.DeepEqual(got, want), "%s: %v; want %v", value, got, want)
	}
}

// TestDecodeBoundsValues checks that the number of reported problems is limited, because a body of
// a megabyte can contain very many invalid values.
func TestDecodeBoundsValues(t *testing.T) {
	body := func(n int, item string) string {
		return `{"domain":"a.com","items":[` + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + `]}`
	}
	_, got := send(t, api.CreateMailboxes, "/mailboxes/bulk", body(50_000, `{}`))
	checkProblems(t, got, problem("json_invalid", "JSON decode error", "body"))

	_, got = send(t, api.CreateMailboxes, "/mailboxes/bulk", body(20_000, `{}`))
	if last := got[len(got)-1]; len(got) != api.MaxProblems+1 || !reflect.DeepEqual(last, problem("value_error", fmt.Sprintf("Value error, %d more problems", 60_001-api.MaxProblems), "body")) {
		t.Errorf("%d problems, the last is %v", len(got), last)
	}

	// All problems of a request within the limits are reported.
	if _, got = send(t, api.CreateMailboxes, "/mailboxes/bulk", body(api.MaxBulkItems, `{}`)); len(got) != 3*api.MaxBulkItems {
		t.Errorf("%d problems", len(got))
	}
	for n, want := range map[int]int{49_995: 0, 49_996: 1} { // plus the domain, the items and the names
		_, got = send(t, api.ExportMailboxes, "/mailboxes/export", strings.Replace(body(n, `{}`), "items", "ignored", 1))
		assert.Check(t, len(got) == want, "%d ignored values: %v", n, got)
	}
}
