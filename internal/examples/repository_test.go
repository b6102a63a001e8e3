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
