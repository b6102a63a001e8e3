package examples_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sourcePath is a path in the repository between backticks: a file, or a folder with a
// slash at its end.
var sourcePath = regexp.MustCompile("`((?:apiserver|internal|templates|examples|docs)/[\\w./-]*(?:\\.\\w+|/))`")

// code is text that Markdown does not interpret.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

// TestRepositoryPages follows the links of the pages at the top of the repository and
// looks for the source files that they name.
func TestRepositoryPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../*.md")
	if err != nil || len(pages) < 3 {
		t.Fatalf("pages %q, error %v", pages, err)
	}
	for _, page := range append(pages, "../../apiserver/cmd/mailhostd/README.md") {
		text := read(t, page)
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			exists(t, page, filepath.Join(filepath.Dir(page), filepath.FromSlash(found[1])))
		}
		for _, found := range sourcePath.FindAllStringSubmatch(text, -1) {
			exists(t, page, filepath.Join("../..", filepath.FromSlash(found[1])))
		}
	}
}

func exists(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names a file that does not exist: %s", strings.TrimPrefix(filepath.ToSlash(page), "../../"), filepath.ToSlash(path))
	}
}

// threatTest is a test in the threat model, with its folder.
var threatTest = regexp.MustCompile("`(Test\\w+)` in `([\\w/]+)`")

// TestThreatModel checks that each threat names a test, and that each test exists.
func TestThreatModel(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "../../SECURITY.md"), "## Threat model")
	text, _, _ = strings.Cut(text, "\n## ")
	rows := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| who ") {
			continue
		}
		rows++
		tests := threatTest.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 || len(tests) != strings.Count(line, "`Test") {
			t.Errorf("a threat without a test, or a test without its folder: %s", line)
		}
		for _, test := range tests {
			if !hasTest(t, filepath.Join("../..", filepath.FromSlash(test[2])), test[1]) {
				t.Errorf("there is no %s in %s", test[1], test[2])
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d threats", rows)
	}
}

// hasTest reports whether a folder has a test of that name.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(read(t, file), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
