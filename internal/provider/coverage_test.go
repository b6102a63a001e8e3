package provider_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testSource is what the source of a package's tests tells of them.
type testSource struct {
	tests []testFunc
	// texts are the string literals, whatever function they are in: tests share
	// the configurations that they are made of.
	texts []string
}

// testFunc is one test.
type testFunc struct {
	name string
	// configs are the different configurations that it applies.
	configs []string
	imports bool
	// calls are the names of the functions and constants that it uses.
	calls []string
}

func parseTests(t *testing.T, dir string) *testSource {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	s := &testSource{}
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.add(set, file)
	}
	return s
}

func (s *testSource) add(set *token.FileSet, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				s.texts = append(s.texts, text)
			}
		}
		return true
	})
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			s.tests = append(s.tests, readTest(set, f))
		}
	}
}

func readTest(set *token.FileSet, f *ast.FuncDecl) testFunc {
	test := testFunc{name: f.Name.Name}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			test.calls = append(test.calls, n.Sel.Name)
		case *ast.KeyValueExpr: // of a resource.TestStep, as no other type here has these
			key, _ := n.Key.(*ast.Ident)
			switch {
			case key == nil:
			case key.Name == "Config":
				if config := source(set, n.Value); !slices.Contains(test.configs, config) {
					test.configs = append(test.configs, config)
				}
			case key.Name == "ImportState":
				test.imports = true
			}
		}
		return true
	})
	return test
}

func source(set *token.FileSet, n ast.Node) string {
	var b strings.Builder
	_ = printer.Fprint(&b, set, n)
	return b.String()
}

// changes are the plan checks by which an acceptance test shows that another
// configuration changes an object.
var changes = []string{"ResourceActionUpdate", "ResourceActionReplace", "ResourceActionDestroyBeforeCreate", "ResourceActionCreateBeforeDestroy"}

// uses are, by kind, how tests reach a type other than a resource: a function of
// acctest.Protocol, and what a configuration for the CLI has of it.
var uses = map[string]struct {
	call string
	hcl  func(name string) string
}{
	"data-sources":        {"ReadData", inBlock("data")},
	"list-resources":      {"List", inBlock("list")},
	"ephemeral-resources": {"Open", inBlock("ephemeral")},
	"actions":             {"Invoke", inBlock("action")},
	"functions":           {"Call", func(name string) string { return "provider::mailhost::" + name + "(" }},
}

func inBlock(block string) func(string) string {
	return func(name string) string { return block + ` "` + name + `"` }
}

// lacks says what has to be written for a type.
func (s *testSource) lacks(r registered) []string {
	if r.kind == "resources" {
		return s.lacksOfResource()
	}
	by := uses[r.kind]
	throughCLI := s.mention(by.hcl(r.name))
	throughProtocol := slices.Contains(s.texts, r.name) && s.any(func(f testFunc) bool { return slices.Contains(f.calls, by.call) })
	if throughCLI || throughProtocol {
		return nil
	}
	return []string{"a test that uses it: a configuration with " + by.hcl(r.name) + " for acctest.Test, or acctest.Protocol's " + by.call + " with that name"}
}

func (s *testSource) lacksOfResource() (missing []string) {
	if !s.any(func(f testFunc) bool {
		return len(f.configs) >= 2 && slices.ContainsFunc(changes, func(c string) bool { return slices.Contains(f.calls, c) })
	}) {
		missing = append(missing, "an acceptance test that applies one Config and then another one, with a plan check of plancheck."+strings.Join(changes, " or "))
	}
	if !s.any(func(f testFunc) bool { return f.imports }) {
		missing = append(missing, "a step with ImportState")
	}
	if !s.any(func(f testFunc) bool {
		return strings.Contains(f.name, "Disappears") && len(f.configs) > 0 && slices.Contains(f.calls, "ResourceActionCreate")
	}) {
		missing = append(missing, "a test named TestDisappears that deletes the object outside Terraform and expects plancheck.ResourceActionCreate")
	}
	return missing
}

func (s *testSource) mention(part string) bool {
	return slices.ContainsFunc(s.texts, func(text string) bool { return strings.Contains(text, part) })
}

func (s *testSource) any(is func(testFunc) bool) bool { return slices.ContainsFunc(s.tests, is) }
