package examples_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccApply applies every example with the CLI, checks that the second plan is empty,
// and destroys everything.
func TestAccApply(t *testing.T) {
	t.Parallel()
	for _, e := range all(t, "resources", "data-sources", "ephemeral-resources", "functions", "actions") {
		t.Run(e.kind.folder+"/"+e.name(), func(t *testing.T) {
			text := destroyable(read(t, e.file))
			s := newServer(t, text)
			if strings.Contains(text, "\nimport {") { // it imports these
				s.Mailbox(t, "example.com", "jane.doe")
				s.Mailbox(t, "example.com", "zoe.mueller")
			}
			step := resource.TestStep{Config: s.ProviderConfig() + text, ConfigVariables: variables(t, text, true)}
			again := step
			again.ConfigVariables = variables(t, text, false)
			again.ConfigPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}
			// plugin-testing can't destroy resources with for_each.
			destroy := resource.TestStep{Config: s.ProviderConfig()}
			acctest.Test(t, resource.TestCase{TerraformVersionChecks: needed(text), Steps: []resource.TestStep{step, again, destroy}})
		})
	}
}

// newServer returns a server for an example: with a domain, unless the example buys it.
func newServer(t *testing.T, text string) *acctest.Server {
	t.Helper()
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
			acctest.Test(t, resource.TestCase{TerraformVersionChecks: needed(text), Steps: []resource.TestStep{
				{Query: true, Config: s.ProviderConfig() + text, ConfigVariables: variables(t, text, true)},
			}})
		})
	}
}

// features are the language features that an old CLI lacks, with the first version of
// both CLIs that has them.
var features = []struct {
	mark  *regexp.Regexp
	since string
}{
	{regexp.MustCompile(`\bprovider::mailhost::`), "1.8.0"},
	{regexp.MustCompile(`(?m)^ephemeral "|\b\w+_wo +=|\bephemeral += true`), "1.11.0"},
	{regexp.MustCompile(`(?m)^(action|list) "`), "1.14.0"},
}

// needed returns the checks that skip an example on a CLI that is too old for it.
func needed(text string) (checks []tfversion.TerraformVersionCheck) {
	for _, f := range features {
		if f.mark.MatchString(text) {
			checks = append(checks, tfversion.SkipBelow(version.Must(version.NewVersion(f.since))))
		}
	}
	return checks
}

// values are the values of the variables that have no default, or null.
var values = config.Variables{
	"backup_password": config.StringVariable("correct-horse-battery-staple"),
}

// required matches a variable block.
var required = regexp.MustCompile(`(?ms)^variable "(\w+)" \{\n(.*?)^\}`)

// variables returns values for an example's variables that have no default, and of those whose
// default is null if creates need them.
func variables(t *testing.T, text string, creates bool) config.Variables {
	t.Helper()
	vars := config.Variables{}
	for _, v := range required.FindAllStringSubmatch(text, -1) {
		fallback := regexp.MustCompile(`(?m)^  default += *(\w*)`).FindStringSubmatch(v[2])
		value, ok := values[v[1]]
		if fallback != nil && (!ok || !creates || fallback[1] != "null") {
			continue
		}
		if !ok {
			t.Fatalf("the variable %s has no default; give it one, or a value in this package's test", v[1])
		}
		vars[v[1]] = value
	}
	return vars
}
