package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// sourcePath is a path in the repository between backticks: a file, or a folder with a
// slash at its end.
var sourcePath = regexp.MustCompile("`((?:apiserver|internal|templates|examples|docs)/[\\w./-]*(?:\\.\\w+|/))`")

// code is text that Markdown does not interpret.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

// link matches a relative link in Markdown and captures it without its anchor.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)

// TestLinks follows the links of every page and looks for the source files that they name.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := markdown(t, "../../docs", root)
	for _, pattern := range []string{"../../*.md", "../../apiserver/cmd/mailhostd/*.md"} {
		found, err := filepath.Glob(pattern)
		assert.Assert(t, err == nil && len(found) != 0, "%s: %q, error %v", pattern, found, err)
		pages = append(pages, found...)
	}
	for _, page := range pages {
		exists := func(path string) {
			_, err := os.Stat(filepath.FromSlash(path))
			assert.Check(t, err == nil, "%s names a file that does not exist: %s", page, path)
		}
		text := read(t, page)
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			exists(filepath.Dir(page) + "/" + found[1])
		}
		for _, found := range sourcePath.FindAllStringSubmatch(text, -1) {
			exists("../../" + found[1])
		}
	}
}

// threatTest is a test in the threat model, with its folder.
var threatTest = regexp.MustCompile("`(Test\\w+)` in `([\\w/]+)`")

// TestThreatModel checks that the threats name tests, and that each test exists.
func TestThreatModel(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "../../SECURITY.md"), "## Threat model")
	text, _, _ = strings.Cut(text, "\n## ")
	tests := threatTest.FindAllStringSubmatch(text, -1)
	assert.Check(t, len(tests) >= 30 && len(tests) == strings.Count(text, "`Test"), "%d of %d tests have a folder", len(tests), strings.Count(text, "`Test"))
	for _, test := range tests {
		files, err := filepath.Glob(filepath.Join("../..", test[2], "*_test.go"))
		if err != nil || !slices.ContainsFunc(files, func(file string) bool { return strings.Contains(read(t, file), "\nfunc "+test[1]+"(t *testing.T)") }) {
			t.Errorf("there is no %s in %s", test[1], test[2])
		}
	}
}
