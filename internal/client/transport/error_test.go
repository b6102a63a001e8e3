package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

func TestErrorBodies(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       []client.Problem
		text       string
	}{
		{"ours", `{"detail":[{"loc":["body","first_name"],"msg":"too long","type":"string_too_long"},{"loc":["body","items",3],"msg":"bad","type":"x"}]}`,
			[]client.Problem{{Loc: []string{"body", "first_name"}, Msg: "too long", Type: "string_too_long"}, {Loc: []string{"body", "items", "3"}, Msg: "bad", Type: "x"}},
			"the request update-mailbox for m failed: first_name: too long; items.3: bad (HTTP 418 I'm a teapot, request id r-1)"},
		{"a value error", `{"detail":[{"loc":["query","ttl"],"msg":"Value error, too far","type":"value_error"}]}`,
			[]client.Problem{{Loc: []string{"query", "ttl"}, Msg: "too far", Type: "value_error"}}, ": ttl: too far (HTTP"},
		{"a path", `{"detail":[{"loc":["path","mailbox"],"msg":"no id"}]}`, []client.Problem{{Loc: []string{"path", "mailbox"}, Msg: "no id"}}, " failed: no id (HTTP"},
		{"a string", `{"detail":"Not like this"}`, []client.Problem{{Msg: "Not like this"}}, "the request update-mailbox for m failed: Not like this (HTTP"},
		{"an object of other names", `{"detail":{"code":7,"message":"no"}}`, []client.Problem{{Msg: "no"}}, ": no (HTTP"},
		{"message", `{"message":"gateway says no"}`, []client.Problem{{Msg: "gateway says no"}}, ": gateway says no (HTTP"},
		{"problem details", `{"title":"Bad","detail":"Because"}`, []client.Problem{{Msg: "Because"}}, ": Because (HTTP"},
		{"empty detail", `{"detail":[]}`, nil, `the response is not the API's own, it begins: {"detail":[]}`},
		{"empty text", `{"detail":""}`, nil, `it begins: {"detail":""} (HTTP`},
		{"nothing", `{}`, nil, ": the API gave no reason (HTTP"},
		{"HTML", "<html>\n\x1b[31m<h1>502\tBad  Gateway</h1>\u202e\ufffd", nil, "it begins: <html> [31m<h1>502 Bad Gateway</h1> (HTTP"},
		{"long", strings.Repeat("x", 5000), nil, strings.Repeat("x", 300) + "… (HTTP"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fakeapi.New().Fail(fakeapi.Fault{Op: "update-mailbox", Status: 418, Text: tc.body, Header: map[string][]string{"X-Request-Id": {"r-1"}}})
			_, err := newClient(t, f).UpdateMailbox(t.Context(), "m", api.UpdateMailboxBody{})
			e, ok := errors.AsType[*client.Error](err)
			assert.Assert(t, ok && e.Status == 418 && e.RequestID == "r-1" && e.Operation == "update-mailbox" && e.Object == "m", "%+v", err)
			assert.Check(t, reflect.DeepEqual(e.Problems, tc.want) && (e.Raw != "") == (tc.want == nil && tc.body != "{}"), "problems %+v, raw %q, want %+v", e.Problems, e.Raw, tc.want)
			assert.Check(t, strings.Contains(e.Error(), tc.text), "text %q, want %q", e, tc.text)
			assert.Check(t, len(e.ProblemsAt()) == len(tc.want) && (tc.name != "ours" || len(e.ProblemsAt("body", "items")) == 1 && len(e.ProblemsAt("body", "items", "3", "x")) == 0))
		})
	}
}

func TestSecretsStayOutOfMessages(t *testing.T) {
	value := `p"<ä&s/w+d>`
	for name, echo := range map[string]func(token, key, value string) string{
		"detail":    func(token, key, value string) string { return fmt.Sprintf(`{"detail":%q}`, token+" "+key+" "+value) },
		"HTML":      func(token, key, value string) string { return "<html>" + token + key + value },
		"escaped":   func(token, key, _ string) string { return "<html>" + token + key + `p&#34;&lt;ä&amp;s/w+d&gt;` },
		"in a URL":  func(token, key, _ string) string { return "<html>" + token + key + `p%22%3C%C3%A4%26s%2Fw%2Bd%3E` },
		"in a path": func(token, key, _ string) string { return "<html>" + token + key + `p%22%3C%C3%A4&s%2Fw+d%3E` },
		"as JSON":   func(token, key, _ string) string { return "<html>" + token + key + `p\"\u003cä\u0026s/w+d\u003e` },
	} {
		t.Run(name, func(t *testing.T) {
			f := fakeapi.New()
			id, logged := "the-key", []any(nil)
			c := newClient(t, f, func(o *client.Options) {
				o.Hooks.NewID = func() string { defer func() { id = "r-1" }(); return id }
				o.Log = func(_ context.Context, msg string, fields ...map[string]any) { logged = append(logged, msg, fields) }
			})
			f.Fail(fakeapi.Fault{Op: "create-master-password", Status: 422, Text: echo("secret-token", "the-key", value)})
			_, err := c.CreateMasterPassword(t.Context(), api.CreateMasterPasswordBody{Name: "ops", Value: &value})
			text := err.Error() + fmt.Sprintf("%+v", err)
			for _, secret := range []string{"secret-token", "the-key", "s/w", "s%2Fw"} {
				assert.Check(t, !strings.Contains(text, secret), "%q is in %s", secret, text)
			}
			assert.Check(t, strings.Contains(text, "[redacted]"), "nothing is redacted in %s", text)
			assert.Check(t, !strings.Contains(fmt.Sprint(logged...), "secret-token"), "logged %v", logged)
		})
	}
	c := newClient(t, fakeapi.New(), func(o *client.Options) {
		o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%w with %s", errRefused, r.Header.Get("Authorization"))
		})
	})
	empty := ""
	_, err := c.CreateMasterPassword(t.Context(), api.CreateMasterPasswordBody{Name: "ops", Value: &empty})
	assert.Check(t, err != nil && strings.Contains(err.Error(), ": connection refused with Bearer [redacted] (") && !strings.Contains(err.Error(), "[redacted]c"), "%v", err)
}

func TestLog(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "create-service-account", DropBefore: true}, fakeapi.Fault{Op: "create-service-account", Status: 429})
	var lines []map[string]any
	c := newClient(t, f, func(o *client.Options) {
		o.Log = func(_ context.Context, _ string, fields ...map[string]any) { lines = append(lines, fields...) }
	})
	a, err := c.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: "ci"})
	assert.NilError(t, err)
	all := fmt.Sprint(lines)
	for _, secret := range []string{"secret-token", a.Token, f.Requests[0].Key, "Bearer"} {
		assert.Check(t, !strings.Contains(all, secret), "%q is in %s", secret, all)
	}
	if len(lines) != len(f.Requests) || lines[0]["error"] != fakeapi.ErrDropped.Error() || lines[0]["attempt"] != 1 || lines[0]["status"] != nil ||
		lines[2]["status"] != 429 || lines[3]["attempt"] != 3 || lines[3]["operation"] != "create-service-account" {
		t.Errorf("%v for %v", lines, f.Sent())
	}
}

// TestUnreadableResponses checks that the error about an unreadable success does not quote
// it, because it may contain a secret.
func TestUnreadableResponses(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"generated`:              "failed: the response is no valid JSON",
		`{"id":{"secret":"generated"}}`: "id is a JSON object",
		`["generated"]`:                 "the whole is a JSON array",
	} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 200, Text: body, Times: 20})
		_, err := newClient(t, f).Mailboxes.Get(t.Context(), "m")
		assert.Check(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "generated"), "%s: %v", body, err)
	}
	for mediaType, want := range map[string]string{"text/html; charset=utf-8": "the response is text/html, not", "": "the response is no valid JSON"} {
		f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 200, Text: "<html>", Header: map[string][]string{"Content-Type": {mediaType}}, Times: 9})
		_, err := newClient(t, f).Mailboxes.Get(t.Context(), "m")
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "%v", err)
	}
}

// TestTolerantReading checks that unneeded fields may be added or missing.
func TestTolerantReading(t *testing.T) {
	f := fakeapi.New().Fail(fakeapi.Fault{Op: "get-mailbox", Status: 206, Text: `{"id":"m","local_part":"m","domain_name":"example.com","primary_email":"m@example.com","first_name":"M","last_name":"M","status":"sleeping","new":{"a":1},"aliases":null,"workspace_id":null` + strings.Repeat(" ", 1<<17) + "}"})
	m, err := newClient(t, f).Mailboxes.Get(t.Context(), "m")
	assert.Check(t, err == nil && m.Status == "sleeping", "%+v, %v", m, err)
}
