package examples_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestExamplesAreValid validates every configuration below examples.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	c := schemas(t)
	checked := 0
	walk(t, root, func(path string) {
		if filepath.Ext(path) == ".tf" || strings.HasSuffix(path, ".tfquery.hcl") || strings.HasSuffix(path, ".tftest.hcl") {
			checked++
			t.Run(strings.TrimPrefix(filepath.ToSlash(path), root+"/"), func(t *testing.T) { c.check(t, path, read(t, path)) })
		}
	})
	assert.Check(t, checked >= 20, "only %d configurations were found", checked)
}

// fenced matches a configuration in a page.
var fenced = regexp.MustCompile("(?ms)^```(terraform|hcl)\n(.*?)^```$")

// TestPagesAreValid validates every configuration in a page. Write an incomplete
// configuration in the text, or in a code block of another language.
func TestPagesAreValid(t *testing.T) {
	t.Parallel()
	c := schemas(t)
	checked := 0
	for _, page := range append(markdown(t, "../../docs", root), "../../README.md") {
		t.Run(strings.TrimPrefix(filepath.ToSlash(page), "../../"), func(t *testing.T) {
			for _, found := range fenced.FindAllStringSubmatch(read(t, page), -1) {
				checked++
				c.check(t, page, found[2])
			}
		})
	}
	assert.Check(t, checked >= 20, "only %d configurations were found", checked)
}

// markdown returns the pages below folders.
func markdown(t *testing.T, folders ...string) (pages []string) {
	t.Helper()
	for _, dir := range folders {
		walk(t, dir, func(path string) {
			if filepath.Ext(path) == ".md" {
				pages = append(pages, path)
			}
		})
	}
	return pages
}

// walk calls do for each file below dir.
func walk(t *testing.T, dir string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			do(path)
		}
		return err
	})
	assert.NilError(t, err)
}
