package domain

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// TestFlatten checks that a field of the response that is null, empty or missing makes a null
// attribute, except that there is always a list of tags.
func TestFlatten(t *testing.T) {
	var m model
	m.flatten(&api.Domain{ID: "id", RedirectURL: new(""), RedirectMode: new("")})
	if !m.WorkspaceID.IsNull() || !m.RedirectURL.IsNull() || !m.RedirectMode.IsNull() || !m.DedicatedIPID.IsNull() || !m.UpdatedAt.IsNull() || m.Tags.IsNull() || len(m.Tags.Elements()) != 0 {
		t.Errorf("got %+v", m)
	}
}

func TestChanges(t *testing.T) {
	settings := func(workspace, redirect string, renew bool) model {
		m := model{WorkspaceID: customtype.New(workspace), AutoRenew: types.BoolValue(renew)}
		if redirect != "" {
			m.RedirectURL = customtype.New(redirect)
		}
		return m
	}
	const a, b = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "8f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	base := settings(a, "https://example.com/", true)
	unknown := settings(a, "https://example.com/", true)
	unknown.WorkspaceID = customtype.NewUnknown()
	for name, test := range map[string]struct {
		want model
		body api.UpdateDomainBody
	}{
		"nothing":   {base, api.UpdateDomainBody{}},
		"spelling":  {settings("7F0C1C1E-6f0e-4d8e-9a3c-1f2a3b4c5d6e", "HTTPS://Example.com", true), api.UpdateDomainBody{}},
		"unknown":   {unknown, api.UpdateDomainBody{}},
		"redirect":  {settings(a, "https://example.com/x", true), api.UpdateDomainBody{RedirectURL: api.NullableFrom(new("https://example.com/x"))}},
		"none":      {settings(a, "", true), api.UpdateDomainBody{RedirectURL: api.NullableFrom[string](nil)}},
		"renewal":   {settings(a, "https://example.com/", false), api.UpdateDomainBody{AutoRenew: new(false)}},
		"workspace": {settings(b, "https://example.com/", true), api.UpdateDomainBody{WorkspaceID: new(b)}},
	} {
		got := test.want.changes(base)
		if text(got.WorkspaceID) != text(test.body.WorkspaceID) || text(got.AutoRenew) != text(test.body.AutoRenew) || got.RedirectURL != test.body.RedirectURL {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// text formats a value with its pointers dereferenced.
func text[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func TestRemedyOfEachCode(t *testing.T) {
	codes := map[string]string{}
	for _, code := range append(api.LimitsOf[api.PurchaseResult]("error_code").Enum, "", "something_new") {
		advice := purchaseAdvice(code)
		if other, twice := codes[advice]; twice {
			t.Errorf("%q and %q have the same remedy", code, other)
		}
		codes[advice] = code
	}
	if advice := purchaseAdvice("something_new"); !strings.Contains(advice, "Error code something_new. Nothing was bought. Ask the API's operator") {
		t.Error(advice)
	}
}
