package examples_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// refusal matches the part of a message of the provider that names an operation which the API lacks.
var refusal = regexp.MustCompile(`(?i)this API has no operation ((?:that|for) [\w ]+)`)

// TestPublishedAPI checks that the page on the published operations has a line for each other operation, each resource
// and each message of the provider about an operation that the API lacks.
func TestPublishedAPI(t *testing.T) {
	t.Parallel()
	page := read(t, root+"/templates/guides/published-api.md")
	lists := func(text, of string) {
		assert.Check(t, strings.Contains(page, text), "published-api.md lacks %s: %s", of, text)
	}
	for _, s := range api.Specs() {
		if s.Lifecycle() {
			lists("`"+s.ID+"`", "the operation")
		}
	}
	for name := range schemas(t).schema.ResourceSchemas {
		lists("\n| `"+name+"` |", "the resource")
	}
	found := 0
	walk(t, root+"/internal/service", func(path string) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, m := range refusal.FindAllStringSubmatch(read(t, path), -1) {
			found++
			lists(`"`+strings.TrimPrefix(strings.TrimSpace(m[1]), "that "), "the message in "+path)
		}
	})
	assert.Check(t, found > 5, "only %d messages were found", found)
}
