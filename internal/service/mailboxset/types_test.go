package mailboxset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestInvalidTypes checks the errors that Terraform would report if mailboxes had a type.
func TestInvalidTypes(t *testing.T) {
	t.Parallel()
	p := acctest.NewServer(t, acctest.Options{}).Protocol(t, "")
	ann := func(v any) any {
		return map[string]any{"ann": v, "bob": map[string]any{"first_name": "Bob", "last_name": "Doe"}}
	}
	for name, tt := range map[string]struct {
		mailboxes any
		want      []string
	}{
		"text":         {"ann", []string{`AttributeName("mailboxes")`, "must be a map"}},
		"number":       {5, []string{"must be a map"}},
		"list":         {[]any{map[string]any{"local_part": "ann"}}, []string{"must be a map"}},
		"null":         {nil, []string{`"mailboxes"`, "required"}},
		"entry: text":  {ann("Jane Doe"), []string{`mailboxes["ann"]`, "must be an object with the strings"}},
		"entry: list":  {ann([]any{"Jane", "Doe"}), []string{`mailboxes["ann"]`, "must be an object"}},
		"entry: null":  {ann(nil), []string{`mailboxes["ann"]`, "must be an object"}},
		"missing name": {ann(map[string]any{"last_name": "Doe"}), []string{`mailboxes["ann"].first_name`, "is required"}},
		"other case":   {ann(map[string]any{"First_Name": "Jane", "last_name": "Doe"}), []string{`mailboxes["ann"].first_name`, "is required", "state: First_Name"}},
		"null name":    {ann(map[string]any{"first_name": "Jane", "last_name": nil}), []string{`mailboxes["ann"].last_name`, "is required"}},
		"name: object": {ann(map[string]any{"first_name": map[string]any{"x": "Jane"}, "last_name": "Doe"}), []string{`mailboxes["ann"]`, "must be an object with the strings"}},
	} {
		t.Run(name, func(t *testing.T) {
			diags := p.Validate(typeName, changes{"domain": "example.com", "mailboxes": tt.mailboxes})
			acctest.Expect(t, diags, append([]string{"ERROR"}, tt.want...)...)
			if text := acctest.Render(diags); acctest.Errors(diags) != 1 || strings.Contains(text, "bug") || strings.Contains(text, "Jane") {
				t.Error(text)
			}
		})
	}
}

// TestValuesStayAsConfigured checks that numbers, further attributes and the type of a map
// neither cause a change nor get lost.
func TestValuesStayAsConfigured(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := changes{"domain": "example.com", "mailboxes": map[string]any{
		"ann": map[string]any{"first_name": 1000000, "last_name": true, "team": "sales", "manager": nil},
		"bob": map[string]any{"first_name": "Bob", "last_name": "Doe", "team": 7},
	}}
	acctest.Expect(t, p.Validate(typeName, config), "WARNING", "Mailboxes of example.com have", "are ignored", "state: manager, team")
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"ann=1000000 true", "bob=Bob Doe"}), "the domain")
	empty := func(config map[string]any) {
		t.Helper()
		o, diags = p.Walk().Read(typeName, o)
		p.NoErrors(diags)
		plan, diags := p.Plan(typeName, config, o)
		p.NoErrors(diags)
		assert.Check(t, isEmpty(plan, o), "the plan is not empty: %v", plan.State)
	}
	empty(config)

	// The same people as a map with a type, as from a variable.
	text := func(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }
	person := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"first_name": tftypes.String, "last_name": tftypes.String}}
	entries := map[string]tftypes.Value{}
	for key, names := range map[string][2]string{"ann": {"1000000", "true"}, "bob": {"Bob", "Doe"}} {
		entries[key] = tftypes.NewValue(person, map[string]tftypes.Value{"first_name": text(names[0]), "last_name": text(names[1])})
	}
	typed := changes{"domain": "example.com", "mailboxes": tftypes.NewValue(tftypes.Map{ElementType: person}, entries)}
	sent := len(s.Sent())
	o, diags = p.Apply(t.Context(), typeName, typed, o)
	p.NoErrors(diags)
	all := s.Sent()
	assert.Check(t, !slices.Contains(all[sent:], "update-mailbox"), "sent %q", all[sent:])
	empty(typed)
	empty(set(nil, "ann=1000000 true", "bob=Bob Doe"))

	// After an import, the state contains objects; a map is no change.
	o, diags = p.Walk().Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	empty(typed)
}
