package provider_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// wholeTests are the tests of a resource that has all that it needs, and of what
// is beside it.
const wholeTests = `package x_test

func TestLifecycle(t *testing.T) {
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: thing(s, "a")},
		{Config: thing(s, "b"), ConfigPlanChecks: plan(plancheck.ExpectResourceAction("mailhost_x.a", plancheck.ResourceActionUpdate))},
		{ResourceName: "mailhost_x.a", ImportState: true},
	}})
}

func TestAccDisappears(t *testing.T) {
	config := "data \"mailhost_x\" \"x\" {}"
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: config},
		{Config: config, ConfigPlanChecks: plan(plancheck.ExpectResourceAction("mailhost_x.a", plancheck.ResourceActionCreate))},
	}})
}

func TestList(t *testing.T) {
	p.List("mailhost_x", nil, 10)
}

const call = "output \"o\" { value = provider::mailhost::x(1) }"
`

// TestCoverageFinds shows what makes TestEverythingIsTested fail.
func TestCoverageFinds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kind, remove, want string }{
		{"resources", "", ""},
		{"resources", `thing(s, "b")`, "one Config and then another"},
		{"resources", "ResourceActionUpdate", "ResourceActionUpdate"},
		{"resources", "ImportState: true", "ImportState"},
		{"resources", "TestAccDisappears", "TestDisappears"},
		{"resources", "ResourceActionCreate", "TestDisappears"},
		{"data-sources", "", ""},
		{"data-sources", "data ", `data "mailhost_x"`},
		{"list-resources", "", ""},
		{"list-resources", "p.List(", "acctest.Protocol's List"},
		{"list-resources", `"mailhost_x", nil`, "acctest.Protocol's List"},
		{"ephemeral-resources", "", `ephemeral "mailhost_x"`},
		{"actions", "", `action "mailhost_x"`},
		{"functions", "", ""},
		{"functions", "provider::mailhost::x", "provider::mailhost::x"},
	} {
		name := "mailhost_x"
		if test.kind == "functions" {
			name = "x"
		}
		code := wholeTests
		if test.remove != "" {
			// What takes its place leaves the syntax whole.
			other := map[string]string{`thing(s, "b")`: `thing(s, "a")`, "ImportState: true": "RefreshState: true", "p.List(": "p.Open(", `"mailhost_x", nil`: "name, nil"}[test.remove]
			if other == "" {
				other = "Other"
			}
			code = strings.ReplaceAll(code, test.remove, other)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x_test.go", code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s := &testSource{}
		s.add(set, file)
		got := strings.Join(s.lacks(registered{kind: test.kind, name: name, dir: "x"}), "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s without %q lacks %q, want %q", test.kind, test.remove, got, test.want)
		}
	}
}
