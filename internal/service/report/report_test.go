package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// render returns each diagnostic as "attribute| summary| detail".
func render(diags diag.Diagnostics) []string {
	var all []string
	for _, d := range diags {
		at := ""
		if d, ok := d.(diag.DiagnosticWithPath); ok {
			at = d.Path().String()
		}
		all = append(all, at+"| "+d.Summary()+"| "+d.Detail())
	}
	return all
}

func problem(loc, msg string) client.Problem {
	p := client.Problem{Msg: msg}
	if loc != "" {
		p.Loc = strings.Split(loc, ".")
	}
	return p
}

func TestErrorFindsTheAttribute(t *testing.T) {
	t.Parallel()
	fields := Fields{"prio": "priority", "hidden": "", "domains.0": "name"}
	for name, c := range map[string]struct {
		problems []client.Problem
		want     []string // attribute and beginning of the detail
	}{
		"own name":  {[]client.Problem{problem("body.name", "bad name")}, []string{"name| Bad name."}},
		"renamed":   {[]client.Problem{problem("body.prio", "Field required")}, []string{"priority| Field required."}},
		"path":      {[]client.Problem{problem("body.domains.0", "is taken!")}, []string{"name| Is taken!"}},
		"nested":    {[]client.Problem{problem("body.contact_info.phone", "wrong")}, []string{"contact_info.phone| contact_info.phone: Wrong."}},
		"in a list": {[]client.Problem{problem("body.items.3.name", "wrong")}, []string{"items[3].name| items[3].name: Wrong."}},
		"several": {
			[]client.Problem{problem("body.name", "bad"), problem("body.prio", "worse")}, []string{"name| Bad.", "priority| Worse."},
		},
		"no attribute": {[]client.Problem{problem("body.hidden", "wrong")}, []string{"| Hidden: wrong."}},
		"elsewhere":    {[]client.Problem{problem("path.account_id", "wrong")}, []string{"| Wrong."}},
		"nowhere":      {[]client.Problem{problem("", "wrong")}, []string{"| Wrong."}},
		"whole body":   {[]client.Problem{problem("body", "wrong")}, []string{"| Wrong."}},
		// A problem with an attribute must not hide the others.
		"some": {
			[]client.Problem{problem("query.page", "wrong"), problem("body.name", "bad"), problem("body.hidden", "worse")},
			[]string{"name| Bad.", "| Page: wrong. Hidden: worse."},
		},
		"none": {nil, []string{"| The API gave no reason."}},
	} {
		var diags diag.Diagnostics
		err := &client.Error{Status: 422, RequestID: "r-1", Operation: "create-thing", Problems: c.problems}
		Error(&diags, err, "Can't create", fields)
		got := render(diags)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
			continue
		}
		for i, want := range c.want {
			at, detail, _ := strings.Cut(want, "| ")
			if !strings.HasPrefix(got[i], at+"| Can't create| "+detail) || !strings.Contains(got[i], "r-1") || !strings.HasSuffix(got[i], "Correct the value in the configuration.") {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}

// TestAdvice checks that each error ends with the next step for the user.
func TestAdvice(t *testing.T) {
	t.Parallel()
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	status := func(n int) error { return fmt.Errorf("call: %w", &client.Error{Status: n, Operation: "op"}) }
	late := &client.Error{Operation: "op", Err: context.DeadlineExceeded}
	for want, errs := range map[string][]error{
		"Renew the token.":         {&client.Error{Status: 401, Operation: "op", Advice: "Renew the token."}, &client.Error{Operation: "op", Err: errors.New("no token"), Advice: "Renew the token."}},
		"that capability":          {status(403)},
		"account. Grant it.":       {&client.Error{Status: 403, Operation: "op", Advice: "Grant it."}},
		"without --read-only":      {&client.Error{Status: 403, Operation: "op", Advice: "Grant it.", Problems: []client.Problem{{Type: api.TypeReadOnly, Msg: "nothing has changed"}}}},
		"reactivate the account":   {&client.Error{Status: 403, Operation: "op", Problems: []client.Problem{{Type: api.TypeAccountCancelled, Msg: "the account is cancelled"}}}},
		"Remove the conflict":      {status(409)},
		"still being processed":    {&client.Error{Status: 409, Operation: "op", Problems: []client.Problem{problem("header.Idempotency-Key", "still running")}}},
		"Correct the value":        {status(422)},
		"creates it again":         {status(404), fmt.Errorf("mailbox: %w", client.ErrNotFound)},
		"-parallelism":             {status(429)},
		"Run apply again":          {status(500), status(503)},
		"Run Terraform again":      {context.Canceled, fmt.Errorf("wait: %w", context.DeadlineExceeded)},
		"timeouts":                 {WithTimeoutAdvice(expired, late), WithTimeoutAdvice(t.Context(), late)},
		"own control panel":        {fmt.Errorf("%w (operation create-mailbox)", client.ErrCreateUnsupported)},
		"Refer to it by its id":    {&client.AmbiguousError{Object: "ops", IDs: []string{"1", "2"}}},
		"":                         {status(418)},
		"base_url":                 {&client.Error{Operation: "op", Err: errors.New("refused")}},
		"Delete it, or choose":     {&client.SecretLostError{Operation: "op", IDs: []string{"1"}, Cause: &client.Error{Status: 409, Problems: []client.Problem{problem("body.name", "taken")}}}},
		"Check the account's list": {&client.UnknownOutcomeError{Operation: "op", Check: "Check the account's list.", Cause: status(500)}},
	} {
		for _, err := range errs {
			var diags diag.Diagnostics
			Error(&diags, err, "Can't", Fields{})
			got := render(diags)
			assert.Check(t, len(got) == 1 && strings.Contains(got[0], want) && strings.HasPrefix(got[0], "| "), "%v: %q, want %q", err, got, want)
			assert.Check(t, strings.Contains(got[0], "base_url") == (want == "base_url"), "%v: %q", err, got)
			assert.Check(t, !outcomeUnclear(err) || !strings.Contains(got[0], "\n\n"), "%v: more advice than its own: %q", err, got[0])
		}
	}
	var diags diag.Diagnostics
	Error(&diags, fmt.Errorf("wait: %w", context.DeadlineExceeded), "Can't", nil)
	got := render(diags)[0]
	assert.Check(t, !strings.Contains(got, "timeouts"), "a resource without timeouts advises %q", got)
	for _, loc := range []string{"body.domain", "query.domain"} {
		diags = nil
		Error(&diags, &client.Error{Status: 422, Operation: "op", Problems: []client.Problem{problem(loc, `the account has no domain "a.com"`)}}, "Can't", Fields{})
		assert.Check(t, is.Contains(render(diags)[0], "refer to its resource, for instance with domain = mailhost_domain.main.name"), "%s: advised", loc)
	}
	diags = nil
	ErrorWithAdvice(&diags, status(409), "Can't", nil, "Choose another name.")
	got = render(diags)[0]
	assert.Check(t, strings.HasSuffix(got, "Choose another name.") && !strings.Contains(got, "import it"), "advised %q", got)
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "A.", "must be 1": "Must be 1.", "done.": "Done.", "really?": "Really?", "it (HTTP 1)": "It (HTTP 1)", "über": "Über.",
	} {
		assert.Check(t, is.Equal(Sentence(in), want), "%q", in)
	}
}

// TestBulletsAreLines checks that text from an API neither ends a line of a list nor changes the
// terminal.
func TestBulletsAreLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Bullets([]string{"www TXT é", "x TXT \x1b[2J\nno changes", "y TXT \u202etxt"}),
		"\n  - www TXT é\n  - \"x TXT \\x1b[2J\\nno changes\"\n  - \"y TXT \\u202etxt\"")
}
