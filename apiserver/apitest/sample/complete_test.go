package sample_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
)

// root is the folder of go.mod.
const root = "../../.."

// TestKindIsComplete lists the places that lack a kind of the contract, in the order in which to write
// them. It reads the sources as text, so that it runs before the missing code exists. Until it
// passes, the same places make other tests fail.
func TestKindIsComplete(t *testing.T) {
	names := operationNames(t)
	byTag := map[string][]api.Spec{}
	var tags []string
	for _, op := range api.Specs() {
		if byTag[op.Kind.Tag] == nil {
			tags = append(tags, op.Kind.Tag)
		}
		byTag[op.Kind.Tag] = append(byTag[op.Kind.Tag], op)
	}
	for _, tag := range tags {
		c := &checklist{names: names}
		c.kind(byTag[tag])
		for i, line := range c.missing {
			t.Errorf("%s, %d of %d: %s", tag, i+1, len(c.missing), line)
		}
	}
}

// checklist collects the missing parts of a kind.
type checklist struct {
	// names maps the id of an operation to its name in package api.
	names   map[string]string
	missing []string
}

// lacks adds a line to missing unless ok.
func (c *checklist) lacks(ok bool, format string, args ...any) {
	if !ok {
		c.missing = append(c.missing, fmt.Sprintf(format, args...))
	}
}

// contains reports whether a file that the pattern matches contains a text, other than as the beginning
// of a longer name.
func contains(pattern, text string) bool {
	whole := regexp.MustCompile(regexp.QuoteMeta(text) + `(\W|$)`)
	if !regexp.MustCompile(`\w$`).MatchString(text) {
		whole = regexp.MustCompile(regexp.QuoteMeta(text))
	}
	files, err := filepath.Glob(filepath.Join(root, pattern))
	return err == nil && slices.ContainsFunc(files, func(name string) bool {
		source, err := os.ReadFile(name)
		return err == nil && whole.Match(source)
	})
}

// text adds a line unless a file that the pattern matches contains a text.
func (c *checklist) text(pattern, text, advice string, args ...any) {
	c.lacks(contains(pattern, text), "%s: %s", strings.TrimSuffix(pattern, "/*.go"), fmt.Sprintf(advice, args...))
}

// operations adds a line with the operations for which no file that the pattern matches contains the form.
func (c *checklist) operations(ops []api.Spec, pattern, form, advice string, args ...any) {
	var absent []string
	for _, op := range ops {
		if name := c.names[op.ID]; !contains(pattern, fmt.Sprintf(form, name)) {
			absent = append(absent, "api."+name)
		}
	}
	c.lacks(absent == nil, "%s: %s", strings.TrimSuffix(pattern, "/*.go"), fmt.Sprintf(advice, append([]any{strings.Join(absent, ", ")}, args...)...))
}

// kind checks a kind with its operations.
func (c *checklist) kind(ops []api.Spec) {
	kind := ops[0].Kind
	if !slices.ContainsFunc(ops, func(op api.Spec) bool { return op.Body() != nil || kind.Noun != "" }) {
		return // it is only read
	}
	k := sample.Of(kind)
	if k == nil {
		c.missing = append(c.missing, fmt.Sprintf("apiserver/apitest/sample/%s.go: write the samples, var %s = Kind{Kind: api.%s.Kind, …} as in mailbox.go, and add &%[2]s to Kinds (sample.go)",
			fileOf(kind), lower(sample.TypeOf(ops).Name()), c.names[ops[0].ID]))
		k = &sample.Kind{Kind: kind, File: fileOf(kind), Resource: "mailhost_" + strings.ToLower(strings.ReplaceAll(kind.Noun, " ", "_"))}
	} else {
		c.samples(k, ops)
	}
	object := sample.TypeOf(ops).Name()
	if k.Noun != "" {
		c.text("apiserver/store/*.go", "type "+object+" struct", "declare %s with its Identity, and its list in Reader (transaction.go)", object)
		c.text("apiserver/store/sqlstore/*.go", "store."+object, "store it: a newKind (%s.go), and its table in a new file of ../sqlite/schema and ../postgres/schema", k.File)
	}
	c.operations(ops, "apiserver/internal/account/*.go", "(api.%s,", "bind %s: each to its rule, in %sOperations (%s.go)", lower(object), k.File)
	c.operations(ops, "apiserver/openapi_examples_test.go", "api.%s.Spec", "call %s in exampleCalls.all, and run make golden")
	list := slices.IndexFunc(ops, func(op api.Spec) bool { return strings.HasPrefix(op.ID, "list-") })
	if list < 0 {
		return
	}
	path := strings.TrimPrefix(ops[list].Path, api.Prefix)
	c.text("apiserver/fixture/mapping_test.go", "api."+object, "add api.%s to mappings with its type of a fixture or, with the reason, to typesLeftOut", object)
	c.text("apiserver/store/storetest/*.go", "store."+object+"{", "create a store.%s in withoutDomain or full (clear.go), and in FillRandomly", object)
	c.text("apiserver/modeltest/*.go", `"`+path, "model the rules in %s_test.go, and list %s in lists (list_test.go)", k.File, path)
	if k.Resource != "" {
		c.provider(k, object)
		name := c.names[ops[list].ID]
		c.text("apiserver/cmd/mailhostd/internal/console/*.go", "api."+name, "add a page with api.%s to sections (view.go) or, with the reason, that list to the exceptions of CheckListsRead (console_test.go)", name)
		c.text("apiserver/cmd/mailhostd/internal/export/*.go", "api."+name, "write the objects of api.%s in a function in kinds.go", name)
	}
}

// samples checks the samples of a kind.
func (c *checklist) samples(k *sample.Kind, ops []api.Spec) {
	file := "apiserver/apitest/sample/" + k.File + ".go: "
	for _, op := range ops {
		body := op.Body()
		if body == nil {
			continue
		}
		c.lacks(k.Bodies[op.ID] != nil, "%sgive Bodies a valid body of %s: %q: {%s}", file, op.ID, op.ID, members(body))
		if k.Bodies[op.ID] == nil || op.Status != http.StatusCreated && op.Method != http.MethodPatch {
			continue
		}
		for _, f := range body.Members {
			_, isSet := k.Bodies[op.ID][f.Name]
			c.lacks(isSet || k.Hidden[f.Name] != "", "%sset %s in the body of %s, to a value that is not its default; or give the reason in Hidden", file, f.Name, op.ID)
		}
	}
	if k.Noun == "" {
		return
	}
	last := ops[slices.IndexFunc(ops, func(op api.Spec) bool { return len(op.PathParameters()) > 1 })].PathParameters()[1]
	c.lacks(k.Parameter == last, "%sset Parameter to %q, the parameter of the paths that names an object; and Path to a value of it, unless that is a UUID", file, last)
	c.lacks(k.Key != nil, "%sset Key to the fields of a response by which people know an object, such as name", file)
	c.lacks(k.New != nil || last == "domain" || last == "workspace_id", "%sset New to the body of a create in a domain, which tests of permissions and of the audit log create", file) // they create domains and workspaces themselves
	c.lacks((k.Resource == "") != (k.Unmanaged == ""), "%sset Resource to the type of the provider's resource or, with the reason, Unmanaged", file)
	if k.Resource == "" {
		return
	}
	c.lacks(k.Config != nil, "%sset Config to the arguments of a %s", file, k.Resource)
	updates := slices.ContainsFunc(ops, func(op api.Spec) bool { return op.Method == http.MethodPatch })
	c.lacks(!updates || k.Change != nil, "%sset Change to an argument that changes the object in place", file)
	c.lacks(!updates || k.Outside != nil, "%sset Outside to the changes that somebody else makes", file)
	c.lacks(k.Replace != nil, "%sset Replace to an argument whose change replaces the object", file)
}

// provider checks the client, the provider and their tests.
func (c *checklist) provider(k *sample.Kind, object string) {
	c.text("internal/client/client.go", "*Objects[api."+object+"]", "declare the kind: a field *Objects[api.%s] of Client, and its newKind in New", object)
	c.text("internal/client/supports_test.go", "*Objects[api."+object+"]", "add a row for api.%s to lifecycles", object)
	if op := k.Create(); op != nil {
		c.text("internal/client/create*_test.go", "api."+c.names[op.ID], "add a row for api.%s to creators or, if its response has a secret, to secretCreators", c.names[op.ID])
	}
	c.text("internal/service/"+k.File+"/definition.go", `"`+strings.TrimPrefix(k.Resource, "mailhost_")+`"`, "define %s, with resource.go, as in internal/service/mailbox", k.Resource)
	c.text("internal/provider/provider.go", k.File+".NewResource", "add {%s.NewResource, %[1]s.Definition} to objects", k.File)
	c.text("internal/provider/kinds_test.go", `"`+k.Resource+`"`, "add %q to kinds", k.Resource)
	c.text("internal/provider/lives_test.go", `"`+k.Resource+`"`, "add %q to everyLife, with updates, replacements and imports", k.Resource)
	c.text("internal/provider/losses_test.go", `"`+k.Resource+`"`, "add %q to everyLoss, with what a change of each attribute ends", k.Resource)
	c.text("internal/provider/lookup_test.go", `"`+k.Resource+`"`, "add %q to everyLookup, with its data sources", k.Resource)
	c.text("internal/simulate/generate_test.go", `case "`+k.Resource+`"`, "draw %q in resourceTypes and arguments, and identify it in naturalKey", k.Resource)
	c.text("internal/simulate/event_test.go", `case "`+k.Resource+`"`, "list the objects of %q in objects", k.Resource)
	c.text("templates/guides/permissions.md", "`"+k.Resource+"`", "add %s to the table of resources", k.Resource)
	c.text("examples/resources/"+k.Resource+"/resource.tf", k.Resource, "declare a %s, and show its import in import.sh", k.Resource)
	c.text("examples/data-sources/"+k.Resource+"/data-source.tf", k.Resource, "look one up; and a folder for the data source of all")
	c.text("examples/list-resources/"+k.Resource+"/list-resource.tfquery.hcl", k.Resource, "list them; and run make generate")
}

// operationNames returns the names of the operations in package api by their ids.
func operationNames(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	files, err := filepath.Glob(filepath.Join(root, "apiserver/api/*.go"))
	assert.NilError(t, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		assert.NilError(t, err)
		for _, m := range regexp.MustCompile(`(?s)(\w+) = define\w*\[.*?ID: "([^"]*)"`).FindAllStringSubmatch(string(source), -1) {
			names[m[2]] = m[1]
		}
	}
	for _, op := range api.Specs() {
		assert.Assert(t, names[op.ID] != "", "apiserver/api: the definition of %s was not found", op.ID)
	}
	return names
}

// fileOf returns the conventional name of a kind's files.
func fileOf(kind api.Kind) string {
	return strings.ToLower(strings.ReplaceAll(kind.Noun, " ", ""))
}

func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// members lists the members of a body, each with a placeholder for the value.
func members(body *api.Field) string {
	names := make([]string, len(body.Members))
	for i, f := range body.Members {
		names[i] = fmt.Sprintf("%q: …", f.Name)
	}
	return strings.Join(names, ", ")
}
