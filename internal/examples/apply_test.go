package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// alone matches an example with blocks that only a root module can have.
var alone = regexp.MustCompile(`(?m)^(import|moved|removed|provider|terraform)\b`)

// TestAccApply applies every example with the CLI, checks that the second plan is empty,
// and destroys everything. Examples for the same versions of the CLI are modules of one
// configuration, each with a provider and an account of its own.
func TestAccApply(t *testing.T) {
	t.Parallel()
	together := map[string]*modules{}
	for _, e := range all(t, "resources", "data-sources", "ephemeral-resources", "functions", "actions") {
		text := destroyable(read(t, e.file))
		if since := neededVersion(text); !alone.MatchString(text) && len(variables(t, text, true)) == 0 {
			if together[since] == nil {
				together[since] = &modules{served: factories{}}
			}
			together[since].add(t, e, text)
			continue
		}
		t.Run(e.kind.folder+"/"+e.name(), func(t *testing.T) {
			s := newServer(t, text)
			if strings.Contains(text, "\nimport {") { // it imports these
				s.Mailbox(t, "example.com", "jane.doe")
				s.Mailbox(t, "example.com", "zoe.mueller")
			}
			apply(t, text, s.ProviderConfig(), text, acctest.Providers())
		})
	}
	for since, m := range together {
		t.Run("modules since "+since, func(t *testing.T) {
			providers := "terraform {\n  required_providers {\n" + m.required + "  }\n}\n" + m.providers
			apply(t, m.texts, providers, m.calls, m.served)
		})
	}
}

// apply runs the steps of TestAccApply. text has the variables, and shows which CLI is needed.
func apply(t *testing.T, text, providers, rest string, served factories) {
	t.Helper()
	// plugin-testing initializes modules only in steps with a folder and with providers of their own.
	step := resource.TestStep{ConfigDirectory: folder(t, providers+rest), ConfigVariables: variables(t, text, true), ProtoV6ProviderFactories: served}
	again, destroy := step, step
	again.ConfigVariables = variables(t, text, false)
	again.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}
	destroy.ConfigDirectory = folder(t, providers) // plugin-testing can't destroy resources with for_each
	resource.ParallelTest(t, resource.TestCase{TerraformVersionChecks: needed(text), Steps: []resource.TestStep{step, again, destroy}})
}

// folder returns a new folder with a configuration.
func folder(t *testing.T, text string) config.TestStepConfigFunc {
	t.Helper()
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600))
	return config.StaticDirectory(dir)
}

type factories = map[string]func() (tfprotov6.ProviderServer, error)

// modules is a configuration with an example in each module.
type modules struct {
	served factories
	// texts are the examples; the others are parts of the root module.
	texts, required, providers, calls string
}

// add adds an example as a module whose mailhost is a provider of its own.
func (m *modules) add(t *testing.T, e example, text string) {
	t.Helper()
	name := regexp.MustCompile(`[/._]`).ReplaceAllString(e.kind.folder+"-"+e.name(), "-") // as providers may be called
	source := fmt.Sprintf("{ source = %q }", "hashicorp/"+name)                           // plugin-testing's namespace
	module := fmt.Sprintf("terraform {\n  required_providers {\n    mailhost = %s\n  }\n}\n%s", source, text)
	m.served[name] = acctest.Providers()["mailhost"]
	m.texts += text
	m.required += fmt.Sprintf("    %s = %s\n", name, source)
	m.providers += strings.Replace(newServer(t, text).ProviderConfig(), `"mailhost"`, strconv.Quote(name), 1)
	m.calls += fmt.Sprintf("module %q {\n  source    = %q\n  providers = { mailhost = %s }\n}\n", name, folder(t, module)(config.TestStepConfigRequest{}), name)
}

// newServer returns a server for an example: with a domain, unless the example buys it. It skips the
// test without a CLI.
func newServer(t *testing.T, text string) *acctest.Server {
	t.Helper()
	if os.Getenv(resource.EnvTfAcc) == "" {
		t.Skip(resource.EnvTfAcc + " is not set")
	}
	s := acctest.NewServer(t, acctest.Options{})
	if !strings.Contains(text, `resource "mailhost_domain" "main"`) {
		s.Domain(t, "example.com")
	}
	return s
}

// set matches the beginning of a set of mailboxes.
var set = regexp.MustCompile(`(?m)^resource "mailhost_mailbox_set" .*$`)

// destroyable returns an example whose set of mailboxes can be destroyed.
func destroyable(text string) string { return set.ReplaceAllString(text, "$0\n  max_deletions = 100") }

// TestAccQuery runs every example of a list resource.
func TestAccQuery(t *testing.T) {
	t.Parallel()
	for _, e := range all(t, "list-resources") {
		t.Run(e.name(), func(t *testing.T) {
			text := read(t, e.file)
			s := acctest.NewServer(t, acctest.Options{})
			resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Providers(), TerraformVersionChecks: needed(text), Steps: []resource.TestStep{
				{Query: true, Config: s.ProviderConfig() + text, ConfigVariables: variables(t, text, true)},
			}})
		})
	}
}

// features are the language features that an old CLI lacks, with the first version of
// both CLIs that has them, in the order of versions.
var features = []struct {
	mark  *regexp.Regexp
	since string
}{
	{regexp.MustCompile(`\bprovider::mailhost::`), "1.8.0"},
	{regexp.MustCompile(`(?m)^ephemeral "|\b\w+_wo +=|\bephemeral += true`), "1.11.0"},
	{regexp.MustCompile(`(?m)^(action|list) "`), "1.14.0"},
}

// neededVersion returns the first version of both CLIs that can apply an example, or "".
func neededVersion(text string) (since string) {
	for _, f := range features {
		if f.mark.MatchString(text) {
			since = f.since
		}
	}
	return since
}

// needed returns the check that skips an example on a CLI that is too old for it.
func needed(text string) []tfversion.TerraformVersionCheck {
	if since := neededVersion(text); since != "" {
		return []tfversion.TerraformVersionCheck{tfversion.SkipBelow(version.Must(version.NewVersion(since)))}
	}
	return nil
}

// values are the values of the variables that have no default, or null.
var values = config.Variables{
	"backup_password": config.StringVariable("correct-horse-battery-staple"),
}

// variableBlock matches a variable block.
var variableBlock = regexp.MustCompile(`(?ms)^variable "(\w+)" \{\n(.*?)^\}`)

// variables returns values for an example's variables that have no default, and of those whose
// default is null if creates need them.
func variables(t *testing.T, text string, creates bool) config.Variables {
	t.Helper()
	vars := config.Variables{}
	for _, v := range variableBlock.FindAllStringSubmatch(text, -1) {
		fallback := regexp.MustCompile(`(?m)^  default += *(\w*)`).FindStringSubmatch(v[2])
		value, ok := values[v[1]]
		if fallback != nil && (!ok || !creates || fallback[1] != "null") {
			continue
		}
		assert.Assert(t, ok, "the variable %s has no default; give it one, or a value in this package's test", v[1])
		vars[v[1]] = value
	}
	return vars
}
