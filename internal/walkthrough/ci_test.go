package walkthrough_test

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestAccPipelines runs the steps of the jobs in examples/ci, each job in a checkout
// of its own, against a server and a state on a server.
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

			p.set("MAILHOST_TOKEN", "")
			p.run(t, "plan", 1, "MAILHOST_TOKEN")
			p.run(t, "drift", 1, "MAILHOST_TOKEN")
		})
	}
}

// TestAccPlanTellsGitHub checks what plan.sh writes for a workflow.
func TestAccPlanTellsGitHub(t *testing.T) {
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

// pipeline runs the jobs of examples/ci.
type pipeline struct {
	*workspace
	jobs   map[string]job
	server *acctest.Server
	state  *stateServer
	// artifacts are the contents of the files that each job has handed on.
	artifacts map[string]map[string]string
}

func newPipeline(t *testing.T, jobs map[string]job) *pipeline {
	t.Helper()
	p := &pipeline{workspace: enter(t, "ci"), jobs: jobs, server: acctest.NewServer(t, acctest.Options{}), state: newStateServer(t)}
	for name, value := range map[string]string{
		"MAILHOST_BASE_URL": p.server.URL, "MAILHOST_ACCOUNT_ID": p.server.AccountID, "MAILHOST_TOKEN": p.server.Token,
		"TF_HTTP_ADDRESS": p.state.URL, "TF_HTTP_LOCK_ADDRESS": p.state.URL, "TF_HTTP_UNLOCK_ADDRESS": p.state.URL,
		"TF_HTTP_USERNAME": stateUser, "TF_HTTP_PASSWORD": statePassword,
	} {
		p.set(name, value)
	}
	return p
}

// run runs a job in a fresh checkout, and fails unless it ends with a code and says
// some texts.
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
	out, code := p.command(t, "sh", "-ec", strings.Join(j.steps, "\n"))
	if code != want {
		t.Fatalf("%s ended with %d, want %d:\n%s", name, code, want, out)
	}
	for _, text := range wants {
		if !strings.Contains(unwrapped(out), text) {
			t.Errorf("%s does not say %q:\n%s", name, text, out)
		}
	}
	if strings.Contains(out, p.server.Token) {
		t.Errorf("%s tells the token", name)
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

// keepsSecrets fails where a credential is in the saved plan, which is packed.
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
		for _, secret := range []string{p.server.Token, statePassword} {
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
