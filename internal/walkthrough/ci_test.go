package walkthrough_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccPipelines runs the steps of the jobs in examples/ci, each job in a new checkout,
// against an API server and a state server.
func TestAccPipelines(t *testing.T) {
	needsShell(t)
	for name, jobs := range map[string]func(*testing.T, string) map[string]job{
		"github-actions.yml": githubJobs,
		"gitlab-ci.yml":      gitlabJobs,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t, jobs(t, name))
			p.server.Domain(t, "example.com")

			p.run(t, "plan", 0, "changes=true")
			p.keepsSecrets(t)
			stale := p.artifacts
			p.run(t, "apply", 0, "Resources: 3 added")
			p.run(t, "drift", 0, "No changes")
			p.run(t, "plan", 0, "changes=false")

			p.artifacts = stale
			p.run(t, "apply", 1, "Saved plan is stale")

			postmaster := p.mailbox(t, "postmaster@example.com")
			if err := p.server.Client.DeleteMailbox(t.Context(), postmaster); err != nil {
				t.Fatal(err)
			}
			p.run(t, "drift", 2, "The account and the configuration differ")
			p.run(t, "plan", 0, "changes=true")
			p.run(t, "apply", 0, "Resources: 1 added")
			p.run(t, "drift", 0, "No changes")

			for name, j := range p.jobs {
				if want := map[bool]string{true: "MAILHOST_APPLY_TOKEN", false: "MAILHOST_PLAN_TOKEN"}[name == "apply"]; j.token != want {
					t.Errorf("%s runs with the secret %q, want %s", name, j.token, want)
				}
			}
			p.secrets = nil
			p.run(t, "plan", 1, "MAILHOST_TOKEN")
			p.run(t, "drift", 1, "MAILHOST_TOKEN")
		})
	}
}

// TestAccPlanSummary checks the outputs and the summary of plan.sh.
func TestAccPlanSummary(t *testing.T) {
	needsShell(t)
	p := newPipeline(t, githubJobs(t, "github-actions.yml"))
	p.server.Domain(t, "example.com")
	dir := t.TempDir()
	output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	p.set("GITHUB_OUTPUT", output)
	p.set("GITHUB_STEP_SUMMARY", summary)
	p.run(t, "plan", 0)
	if got := read(t, output); got != "changes=true\n" {
		t.Errorf("the outputs are %q", got)
	}
	if got := read(t, summary); !strings.HasPrefix(got, "```\n") || !strings.Contains(got, "Plan: 3 to add") {
		t.Errorf("the summary is\n%s", got)
	}
}

// TestAccPlanKeepsWarnings checks that the summary of plan.sh begins with the plan's
// warnings, which "terraform show" omits.
func TestAccPlanKeepsWarnings(t *testing.T) {
	needsShell(t)
	p := newPipeline(t, githubJobs(t, "github-actions.yml"))
	p.server.Domain(t, "example.com")
	p.run(t, "plan", 0, "changes=true")
	p.run(t, "apply", 0, "Resources: 3 added")
	summary := filepath.Join(t.TempDir(), "summary")
	p.set("GITHUB_STEP_SUMMARY", summary)
	p.set("TF_VAR_role_mailboxes", `{"postmaster":"Mail"}`)
	p.run(t, "plan", 0, "changes=true")
	const warning = "Warning: The plan deletes a mailbox with its mail"
	got := read(t, summary)
	if !strings.HasPrefix(got, "```\n"+warning) || !strings.Contains(got, "abuse@example.com") {
		t.Errorf("the summary does not begin with the warning:\n%s", got)
	}
	if !strings.Contains(got, "Plan: 0 to add, 0 to change, 1 to destroy.") || strings.Count(got, warning) != 1 {
		t.Errorf("the summary is not the warning and then the plan:\n%s", got)
	}
}

// pipeline runs the jobs of examples/ci.
type pipeline struct {
	*workspace
	jobs   map[string]job
	server *acctest.Server
	state  *stateServer
	// secrets are the pipeline's secrets by name.
	secrets map[string]string
	// artifacts are the contents of each job's artifacts.
	artifacts map[string]map[string]string
}

func newPipeline(t *testing.T, jobs map[string]job) *pipeline {
	t.Helper()
	p := &pipeline{workspace: enter(t, "ci"), jobs: jobs, server: acctest.NewServer(t, acctest.Options{}), state: newStateServer(t)}
	p.secrets = map[string]string{
		"MAILHOST_PLAN_TOKEN":  p.server.LimitedToken(t, api.PlanCapabilities()...),
		"MAILHOST_APPLY_TOKEN": p.server.Token,
	}
	for name, value := range map[string]string{
		"MAILHOST_BASE_URL": p.server.URL, "MAILHOST_ACCOUNT_ID": p.server.AccountID,
		"TF_HTTP_ADDRESS": p.state.URL, "TF_HTTP_LOCK_ADDRESS": p.state.URL, "TF_HTTP_UNLOCK_ADDRESS": p.state.URL,
		"TF_HTTP_USERNAME": stateUser, "TF_HTTP_PASSWORD": statePassword,
	} {
		p.set(name, value)
	}
	return p
}

// run runs a job in a new checkout. It fails unless the job exits with the code want and
// prints all of wants.
func (p *pipeline) run(t *testing.T, name string, want int, wants ...string) {
	t.Helper()
	j, ok := p.jobs[name]
	if !ok || len(j.steps) == 0 {
		t.Fatalf("there is no job %s, or it has no steps", name)
	}
	p.copy(t, "ci")
	for _, needed := range j.needs {
		for file, content := range p.artifacts[needed] {
			p.write(t, file, content)
		}
	}
	p.set("MAILHOST_TOKEN", p.secrets[j.token])
	out, code := p.command(t, "sh", "-ec", strings.Join(j.steps, "\n"))
	if code != want {
		t.Fatalf("%s ended with %d, want %d:\n%s", name, code, want, out)
	}
	for _, text := range wants {
		if !strings.Contains(unwrapped(out), text) {
			t.Errorf("%s does not print %q:\n%s", name, text, out)
		}
	}
	for secret, value := range p.secrets {
		if strings.Contains(out, value) {
			t.Errorf("%s prints %s", name, secret)
		}
	}
	if locked := p.state.locked(); locked {
		t.Errorf("%s left the state locked", name)
	}
	kept := map[string]string{}
	for _, file := range j.artifacts {
		if text, err := os.ReadFile(filepath.Join(p.dir, file)); err == nil {
			kept[file] = string(text)
		}
	}
	p.artifacts = map[string]map[string]string{name: kept}
}

// keepsSecrets fails if the saved plan, a zip file, contains a credential.
func (p *pipeline) keepsSecrets(t *testing.T) {
	t.Helper()
	plan, err := zip.OpenReader(filepath.Join(p.dir, "tfplan"))
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	found := 0
	for _, file := range plan.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{p.secrets["MAILHOST_PLAN_TOKEN"], p.secrets["MAILHOST_APPLY_TOKEN"], statePassword} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s in the plan holds a credential", file.Name)
			}
		}
		found++
	}
	if found == 0 {
		t.Error("the plan is empty")
	}
}

// mailbox returns the id of a mailbox.
func (p *pipeline) mailbox(t *testing.T, address string) string {
	t.Helper()
	m, err := p.server.Client.GetMailbox(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return m.ID
}
