package mailboxset_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// TestFailures lets each kind of request of a create, an update and a destroy fail: the state
// equals the domain's mailboxes, and the next apply does the rest.
func TestFailures(t *testing.T) {
	t.Parallel()
	adopt := set(changes{"max_deletions": 9, "on_existing": "adopt"}, "ann=Joan Doe", "bob", "dee")
	next := set(changes{"max_deletions": 9}, "ann=Joan Doe", "bob", "dee")
	before, wanted := []string{"ann=Jane Doe", "bob=Jane Doe", "cid=Jane Doe"}, []string{"ann=Joan Doe", "bob=Jane Doe", "dee=Jane Doe"}
	type outcome struct {
		after, afterOutage []string // after a failure of the connection, no further request is sent
		text               string
	}
	for name, step := range map[string]struct {
		config   map[string]any
		isCreate bool
		outcomes map[string]outcome
	}{
		"create": {adopt, true, map[string]outcome{
			"list-mailboxes":   {nil, nil, "ERROR: Can't create the mailbox set of example.com"},
			"create-mailboxes": {[]string{"ann=Joan Doe"}, []string{"ann=Joan Doe"}, "WARNING at AttributeName(\"mailboxes\"): Can't create the mailbox bob@example.com, and 1 more"},
			"update-mailbox":   {[]string{"ann=Jane Doe", "bob=Jane Doe", "dee=Jane Doe"}, []string{"ann=Jane Doe"}, "Can't set the names of the mailbox ann@example.com"},
		}},
		"update": {next, false, map[string]outcome{
			"list-mailboxes":   {before, before, "ERROR: Can't update the mailbox set of example.com"},
			"create-mailboxes": {[]string{"ann=Joan Doe", "bob=Jane Doe"}, []string{"ann=Joan Doe", "bob=Jane Doe"}, "Can't create the mailbox dee@example.com"},
			"update-mailbox":   {[]string{"ann=Jane Doe", "bob=Jane Doe", "dee=Jane Doe"}, []string{"ann=Jane Doe", "bob=Jane Doe"}, "Can't update the mailbox ann@example.com"},
			"delete-mailbox":   {[]string{"ann=Joan Doe", "bob=Jane Doe", "cid=Jane Doe", "dee=Jane Doe"}, before, "Can't delete the mailbox cid@example.com"},
		}},
		"destroy": {nil, false, map[string]outcome{
			"list-mailboxes": {before, before, "ERROR: Can't delete the mailbox set of example.com"},
			"delete-mailbox": {before[:1], before, "Can't delete the mailbox ann@example.com"},
		}},
	} {
		for failure, rule := range map[string]fault.Rule{"refused": {Status: 403, Times: 1}, "internal": {Status: 500, Times: 1}, "dropped": {Drop: fault.Before}} {
			for op, expected := range step.outcomes {
				t.Run(name+" "+op+" "+failure, func(t *testing.T) {
					t.Parallel()
					s := server(t, acctest.Options{})
					p := s.ProtocolOf(t, "", provider.NewReplaced("test", provider.Replacements{Hooks: client.Hooks{RetryMax: -1, Parallel: 1}})())
					var o *acctest.Object
					if step.isCreate {
						s.Mailbox(t, "example.com", "ann")
					} else {
						applied, diags := p.Apply(t.Context(), typeName, set(changes{"max_deletions": 9}, "ann", "bob", "cid"), nil)
						p.NoErrors(diags)
						o = applied
					}
					plan, diags := p.Walk().Plan(typeName, step.config, o)
					p.NoErrors(diags)
					rule := rule
					rule.Operation = op
					s.Fault(t, rule)
					failed, diags := p.Walk().ApplyPlan(t.Context(), typeName, step.config, o, plan)
					s.Faults.Clear()
					after := expected.after
					if failure == "dropped" {
						after = expected.afterOutage
					}
					if acctest.Expect(t, diags, expected.text); after == nil {
						assert.Check(t, failed.Gone(), "the failed create leaves %s", failed.State)
						failed = nil
					} else {
						assert.Check(t, is.DeepEqual(addressesOf(t, s), after), "the domain")
						expect(t, failed, "mailboxes", after...)
						read, diags := p.Walk().Read(typeName, failed)
						if p.NoErrors(diags); !read.State.Equal(failed.State) {
							t.Errorf("the state after the failure is %s, a refresh finds %s", failed.State, read.State)
						}
					}
					if step.config == nil {
						_, diags = p.Destroy(t.Context(), typeName, failed)
						if p.NoErrors(diags); len(addressesOf(t, s)) > 0 {
							t.Errorf("the domain has %q", addressesOf(t, s))
						}
						return
					}
					o, diags = p.Apply(t.Context(), typeName, step.config, failed)
					p.NoErrors(diags)
					expect(t, o, "mailboxes", wanted...)
					assert.Check(t, is.DeepEqual(addressesOf(t, s), wanted), "the domain")
				})
			}
		}
	}
}

// TestPlans plans a set with unknown values, a failed list, or a mailbox of another resource of
// the same plan.
func TestPlans(t *testing.T) {
	t.Parallel()
	const single, changed = "mailhost_mailbox", "A changed key is a new address"
	one := func(key string, more changes) changes {
		all := changes{"domain": "example.com", "local_part": key, "first_name": "Jane", "last_name": "Doe"}
		maps.Copy(all, more)
		return all
	}
	unknownMap := func(most any) changes {
		return changes{"domain": "example.com", "mailboxes": acctest.Unknown, "max_deletions": most}
	}
	computed := []string{"addresses", "ids", "unmanaged"}
	for name, c := range map[string]struct {
		config  map[string]any
		other   map[string]any // of a single mailbox, planned before
		refused string         // operation
		want    []string       // parts of the diagnostics; nil: no diagnostics
		not     string
		unknown []string // computed values that the plan does not know
	}{
		"create: unknown map":                  {config: unknownMap(1), unknown: computed},
		"create: unknown entry":                {config: changes{"domain": "example.com", "mailboxes": map[string]any{"zoe": acctest.Unknown}}, unknown: []string{"ids", "unmanaged"}},
		"create: unknown domain":               {config: set(changes{"domain": acctest.Unknown}, "zoe"), unknown: computed},
		"create: unknown retired":              {config: set(changes{"retired": acctest.Unknown}, "zoe"), unknown: []string{"ids", "unmanaged"}},
		"create: list refused":                 {config: set(nil, "ann"), refused: "list-mailboxes", unknown: []string{"ids", "unmanaged"}},
		"create: one exists":                   {config: set(nil, "ann"), want: []string{"ERROR", "1 mailbox to be created exists already", `mailboxes["ann"] is ann@example.com, id `, "on_existing", "or import the domain into the set"}},
		"create: adopts one, and renames it":   {config: set(changes{"on_existing": "adopt"}, "ann=Anna Roe"), want: []string{"WARNING", "adopts 1 mailbox", "ann@example.com, whose name changes"}, unknown: []string{"ids", "unmanaged"}},
		"create: adopts one":                   {config: set(changes{"on_existing": "adopt"}, "ann"), want: []string{"WARNING", "adopts 1 mailbox", "\n  - ann@example.com\n"}, not: "name changes", unknown: []string{"ids", "unmanaged"}},
		"create: another creates one":          {config: set(nil, "zoe"), other: one("zoe", nil), want: []string{"ERROR", "Another resource creates 1 mailbox of the set", "zoe"}},
		"update: unknown map":                  {config: unknownMap(0), unknown: computed},
		"update: unknown map, with deletions":  {config: unknownMap(1), want: []string{"ERROR", "can't name"}},
		"update: unknown map and number":       {config: unknownMap(acctest.Unknown), want: []string{"ERROR", "can't name"}},
		"update: unknown map and retired":      {config: changes{"domain": "example.com", "mailboxes": acctest.Unknown, "retired": acctest.Unknown}, want: []string{"ERROR", "can't name"}},
		"update: unknown name":                 {config: changes{"domain": "example.com", "mailboxes": map[string]any{"bob": set(nil, "bob")["mailboxes"].(map[string]any)["bob"], "ann": map[string]any{"first_name": acctest.Unknown, "last_name": "Doe"}}}},
		"empty: unknown map":                   {config: unknownMap(1), unknown: computed},
		"update: unknown domain":               {config: set(changes{"domain": acctest.Unknown, "max_deletions": 2}, "ann", "bob")},
		"update: unknown retired":              {config: set(changes{"retired": acctest.Unknown, "max_deletions": 1}, "ann"), want: []string{"WARNING", "deletes 1 mailbox", "bob@example.com"}, not: changed, unknown: []string{"unmanaged"}},
		"update: unknown value of retired":     {config: set(changes{"retired": changes{"bob": acctest.Unknown}, "max_deletions": 1}, "ann"), want: []string{"WARNING", "deletes 1 mailbox"}, unknown: []string{"unmanaged"}},
		"update: unknown retired, none leaves": {config: set(changes{"retired": acctest.Unknown}, "ann", "bob")},
		"update: another creates one":          {config: set(nil, "ann", "bob", "zoe"), other: one("zoe", nil), want: []string{"ERROR", "Another resource creates 1 mailbox of the set", "zoe"}},
		"update: another adopts one":           {config: set(nil, "ann", "bob"), other: one("ann", changes{"on_existing": "adopt"}), want: []string{"ERROR", "Other resources have 1 mailbox of the set", "ann@example.com"}},
		"update: a key changes":                {config: set(changes{"max_deletions": 1}, "ann", "rob"), want: []string{"WARNING", "deletes 1 mailbox", changed}, unknown: []string{"ids"}},
		"update: a key changes, refused":       {config: set(nil, "ann", "rob"), want: []string{"ERROR", "would delete 1 mailbox", changed}},
		"update: a key leaves, refused":        {config: set(nil, "ann"), want: []string{"ERROR at AttributeName(\"max_deletions\")", "would delete 1 mailbox of example.com, and max_deletions is 0", "bob@example.com", "retired", "moved block"}, not: changed},
		"import: unknown map":                  {config: unknownMap(1), unknown: computed},
		"import: unknown retired":              {config: set(changes{"retired": acctest.Unknown}, "ann"), want: []string{"ERROR", "would delete 1 mailbox", "bob@example.com"}, not: "releases"},
		"import: a mailbox that is retired":    {config: set(changes{"retired": changes{"bob": "delete"}}, "ann"), want: []string{"WARNING", "deletes 1 mailbox", "bob@example.com"}, not: "releases"},
		"import: a mailbox without a key":      {config: set(nil, "ann"), want: []string{"WARNING", "releases 1 mailbox", "They were imported", "bob@example.com"}, not: "deletes"},
		"destroy: another adopts one":          {other: one("ann", changes{"on_existing": "adopt"}), want: []string{"ERROR", "Other resources have 1 mailbox of the set", "destroys what the other one keeps", "ann@example.com", "in retired"}},
		"destroy: too many":                    {want: []string{"ERROR", "would delete 2 mailboxes of example.com, and max_deletions is 1", "ann@example.com", "bob@example.com", "removed block"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, acctest.Options{})
			p := s.Protocol(t, "")
			step, _, _ := strings.Cut(name, ":")
			var o *acctest.Object
			switch step {
			case "create":
				s.Mailbox(t, "example.com", "ann")
			case "import":
				s.Mailbox(t, "example.com", "ann")
				s.Mailbox(t, "example.com", "bob")
				imported, diags := p.Import(typeName, "example.com", nil)
				p.NoErrors(diags)
				o, diags = p.Walk().Read(typeName, imported)
				p.NoErrors(diags)
			default:
				keys := []string{"ann", "bob"}
				if step == "empty" {
					keys = nil
				}
				applied, diags := p.Apply(t.Context(), typeName, set(changes{"max_deletions": 1}, keys...), nil)
				p.NoErrors(diags)
				o = applied
			}
			if c.refused != "" {
				s.Fault(t, fault.Rule{Operation: c.refused, Status: 403})
			}
			p.Together()
			if c.other != nil {
				_, diags := p.Plan(single, c.other, nil)
				p.NoErrors(diags)
			}
			plan, diags := p.Plan(typeName, c.config, o)
			text := acctest.Render(diags)
			acctest.ExpectText(t, text, c.want...)
			assert.Check(t, (len(c.want) != 0 || text == "") && (c.not == "" || !strings.Contains(text, c.not)), "the plan says %s", text)
			if acctest.Errors(diags) > 0 {
				return
			}
			var unknown []string
			for _, name := range computed {
				if !acctest.Attributes(plan.State)[name].IsFullyKnown() {
					unknown = append(unknown, name)
				}
			}
			assert.Check(t, slices.Equal(unknown, c.unknown), "the plan does not know %q, want %q", unknown, c.unknown)
		})
	}
}
