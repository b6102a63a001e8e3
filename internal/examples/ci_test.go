package examples_test

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
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
			p := newPipeline(t, jobs(t, name), strings.HasPrefix(name, "github"))
			p.run(t, "test", 0, "1 passed, 0 failed")
			p.server.Domain(t, "example.com")

			p.run(t, "plan", 0, "installed mailhost/mailhost 0.2.0", "changes=true")
			p.keepsSecrets(t)
			stale := p.artifacts
			other := acctest.NewServer(t, acctest.Options{})
			p.set("MAILHOST_BASE_URL", other.URL)
			p.run(t, "apply", 1, "The plan was made for the account "+p.server.URL)
			p.set("MAILHOST_BASE_URL", p.server.URL)
			p.artifacts = stale
			p.run(t, "apply", 0, "Resources: 3 added")
			p.artifacts = nil
			p.run(t, "apply", 1, "There is no plan here. Run plan.sh first")
			p.run(t, "drift", 0, "No changes")
			p.run(t, "plan", 0, "changes=false")

			p.artifacts = stale
			p.run(t, "apply", 1, "Saved plan is stale")

			postmaster := p.mailbox(t, "postmaster@example.com")
			assert.NilError(t, p.server.Client.Mailboxes.Delete(t.Context(), postmaster))
			p.run(t, "drift", 2, "The account and the configuration differ")
			p.run(t, "plan", 0, "changes=true")
			p.run(t, "apply", 0, "Resources: 1 added")
			p.run(t, "drift", 0, "No changes")
			drift := p.jobs["drift"]
			failing := drift
			failing.steps = append([]string{`printf 'check "x" {\n assert {\n condition = var.domain == ""\n error_message = "made by hand: info"\n }\n}\n' >check.tf`}, drift.steps...)
			p.jobs["drift"] = failing
			p.run(t, "drift", 2, "made by hand: info", "The account and the configuration differ")
			p.jobs["drift"] = drift

			// A pull request is planned with the right to read alone; a fork has no right.
			p.ci.event = "pull_request"
			p.set("TF_VAR_role_mailboxes", `{"postmaster":"Mail"}`)
			p.run(t, "plan", 0, "changes=true")
			p.run(t, "apply", 1, "lacks the capability mailbox.delete")
			p.ci.repository = "mallory/mail"
			p.run(t, "plan", 1, "match no trusted workload")
			p.ci.audience = "https://other.example.com"
			p.run(t, "plan", 1, "the audience")
			p.ci.issues = false
			p.run(t, "drift", 1, "This job has no identity token")
		})
	}
}

// TestAccPlanSummary checks the outputs of plan.sh, and that tfplan.txt and the summary
// begin with the counts, with what is destroyed, and with the plan's warnings, which
// "terraform show" omits.
func TestAccPlanSummary(t *testing.T) {
	needsShell(t)
	p := newPipeline(t, githubJobs(t, "github-actions.yml"), true)
	p.server.Domain(t, "example.com")
	dir := t.TempDir()
	output := filepath.Join(dir, "output")
	p.set("GITHUB_OUTPUT", output)
	p.run(t, "plan", 0)
	assert.Check(t, is.Equal(read(t, output), "changes=true\n"), "the outputs")
	p.run(t, "apply", 0, "Resources: 3 added")

	p.set("TF_VAR_role_mailboxes", `{"postmaster":"Mail"}`)
	const losses = "Plan: 0 to add, 0 to change, 1 to destroy.\n" + `mailhost_mailbox.role["abuse"] will be destroyed` + "\nThe plan deletes the mailbox abuse@example.com with its mail\n\nWarning: The plan deletes the mailbox abuse@example.com with its mail\n"
	summary := filepath.Join(dir, "small")
	p.set("GITHUB_STEP_SUMMARY", summary)
	p.run(t, "plan", 0, "changes=true")
	want := read(t, filepath.Join(p.dir, "tfplan.txt"))
	assert.Check(t, is.Equal(read(t, summary), "```\n"+want+"```\n"), "the summary is not tfplan.txt")
	if !strings.HasPrefix(want, losses) || strings.Count(want, "Warning: ") != 1 || !strings.Contains(want, `  - resource "mailhost_mailbox" "role" {`) || strings.Contains(want, "Refreshing") {
		t.Errorf("tfplan.txt has not the losses, the warning and the changes:\n%s", want)
	}

	p.set("TF_VAR_domain", "example..com")
	summary = filepath.Join(dir, "failed")
	p.set("GITHUB_STEP_SUMMARY", summary)
	p.run(t, "plan", 1)
	if got := read(t, summary); !strings.HasPrefix(got, "```\nError: ") || !strings.Contains(got, "empty label") || !strings.HasSuffix(got, "\n```\n") {
		t.Errorf("the summary of a failed plan is\n%s", got)
	}
	p.set("TF_VAR_domain", "example.com")
	p.set("TF_HTTP_PASSWORD", "wrong")
	summary = filepath.Join(dir, "no-state")
	p.set("GITHUB_STEP_SUMMARY", summary)
	p.run(t, "plan", 1)
	if got := read(t, summary); !strings.HasPrefix(got, "```\nError: ") {
		t.Errorf("the summary of a failed init is\n%s", got)
	}
	p.set("TF_HTTP_PASSWORD", statePassword)

	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf(`"role%d":"Role"`, i))
	}
	buys := p.jobs["plan"]
	buys.steps = append([]string{"echo '" + purchase + "' >purchase.tf", `echo '{"allowed": {"purchases": ["example.net"]}}' >policy/allowed.json`}, buys.steps...)
	p.jobs["plan"] = buys
	p.set("TF_VAR_role_mailboxes", "{"+strings.Join(many, ",")+"}")
	summary = filepath.Join(dir, "large")
	p.set("GITHUB_STEP_SUMMARY", summary)
	p.run(t, "plan", 0, "changes=true")
	got := read(t, summary)
	if !strings.HasPrefix(got, "```\nPlan: 201 to add, 0 to change, 2 to destroy.\nmailhost_domain.second will be bought\n"+`mailhost_mailbox.role["abuse"] will be destroyed`) ||
		!strings.Contains(got, "\nThe plan deletes the mailbox abuse@example.com with its mail\n") || !strings.Contains(got, "\nThe plan buys the domain example.net\n") || !strings.Contains(got, "Warning: The plan deletes the mailbox abuse") || !strings.Contains(got, "2 objects are destroyed") || strings.Contains(got, "role199") {
		t.Errorf("the summary of a large plan is\n%s", got)
	}
}

// TestAccNoTests checks that test.sh fails if nothing is tested.
func TestAccNoTests(t *testing.T) {
	needsShell(t)
	w := enter(t, "ci")
	assert.NilError(t, os.RemoveAll(filepath.Join(w.dir, "tests")))
	out, code := w.command(t, "./test.sh")
	assert.Check(t, code != 0 && strings.Contains(out, "There is no test"), "without tests, test.sh ended with %d:\n%s", code, out)
}

// purchase buys a domain.
const purchase = `
resource "mailhost_domain" "second" {
  name = "example.net"
  ` + contact + `}
`

// TestAccPolicy checks plans with the rules of policy/mail.rego.
func TestAccPolicy(t *testing.T) {
	needsShell(t, "opa")
	w := newWorkspace(t)
	assert.NilError(t, copyConfig(w.dir, filepath.Join(examples, "ci")))
	const (
		domain   = "\nresource \"mailhost_domain\" \"main\" {\n name = \"example.com\"\n " + contact + "}"
		ip       = "\nresource \"mailhost_dedicated_ip\" \"out\" {\n option_id = data.mailhost_dedicated_ip_options.all.dedicated_ip_options[0].id\n}"
		password = "\nresource \"mailhost_master_password\" \"migration\" {\n name = \"migration\"\n domain = \"example.com\"\n %s\n depends_on = [mailhost_domain.main]\n}"
		zone     = "\nresource \"mailhost_dns_zone\" \"main\" {\n domain = mailhost_domain.main.name\n records = { \"_DMARC   txt\" = { values = [\"v=DMARC1; p=%s; sp=none\"] } }\n ignore = [\"_dmarc.*\"]\n}"
		account  = "\nresource \"mailhost_service_account\" \"ci\" {\n name = \"ci\"\n}"
		unknown  = "\nresource \"terraform_data\" \"unknown\" {}\nresource \"mailhost_master_password\" \"unknown\" {\n name = \"unknown\"\n domain = \"example.com\"\n %s\n depends_on = [mailhost_domain.main]\n}"
		record   = "\nresource \"mailhost_dns_record\" \"dmarc\" {\n domain = mailhost_domain.main.name\n name = \"_dmarc.news\"\n type = \"TXT\"\n value = %q\n}"
		set      = "\nresource \"mailhost_mailbox_set\" \"main\" {\n domain = mailhost_domain.main.name\n max_deletions = 9\n retired = { Bob = \"keep\" }\n mailboxes = { for k in [%s] : k => { first_name = \"A\", last_name = \"B\" } }\n}"
		rule     = "\nresource \"mailhost_forwarding\" \"all\" {\n target_email = %q\n depends_on = [mailhost_domain.main]\n}"
	)
	plan := func(config string, denied ...string) {
		t.Helper()
		w.write(t, "main.tf", policyConfig+config)
		w.must(t, "plan", "-input=false", "-out=tfplan")
		out, code := w.command(t, "./policy.sh")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(denied) == 0 && (code != 0 || out != "") || len(denied) > 0 && (code != 1 || len(lines) != 1+len(denied)) {
			t.Fatalf("the policy ended with %d:\n%s", code, out)
		}
		for i, want := range denied {
			assert.Check(t, strings.HasPrefix(lines[1+i], want), "the policy does not print %q:\n%s", want, out)
		}
	}
	w.write(t, "versions.tf", "")
	w.write(t, "main.tf", policyConfig)
	w.must(t, "init", "-input=false")
	all := domain + ip + fmt.Sprintf(password, "generate = true") + fmt.Sprintf(zone, "reject")
	plan(all+account+fmt.Sprintf(unknown, "value = terraform_data.unknown.id"), "mailhost_dedicated_ip.out: the apply may buy", "mailhost_domain.main: the apply may buy",
		"mailhost_master_password.migration: its secret", "mailhost_master_password.unknown: value is stored", "mailhost_service_account.ci: its secret")
	assert.NilError(t, os.Remove(filepath.Join(w.dir, "policy", "allowed.json")))
	plan("\nresource \"terraform_data\" \"unknown\" {}\n"+strings.Replace(domain, `"example.com"`, "terraform_data.unknown.id", 1)+account, "mailhost_domain.main: the apply may buy", "mailhost_service_account.ci: its secret")
	w.write(t, "policy/allowed.json", `{"allowed": {"purchases": ["example.com", "mailhost_dedicated_ip.out"], "secrets_in_state": ["mailhost_master_password.migration"]}}`)
	people := fmt.Sprintf(set, `"ann", "bob", "cid"`)
	plan(all + people + fmt.Sprintf(rule, "ann@example.com"))
	w.must(t, "apply", "tfplan")
	plan(all+fmt.Sprintf(set, `"cid"`)+fmt.Sprintf(rule, "boss@example.org"), "mailhost_forwarding.all: all mail of the account is forwarded to boss@example.org", "mailhost_mailbox_set.main: the plan deletes the mailbox ann@example.com")
	plan(all+fmt.Sprintf(rule, "ann@example.com"), "mailhost_mailbox_set.main: the plan deletes the mailbox ann@example.com", "mailhost_mailbox_set.main: the plan deletes the mailbox cid@example.com")
	w.write(t, "policy/allowed.json", `{"allowed": {"deleted_mailboxes": ["ann@example.com", "cid@example.com"], "forwarding_targets": ["boss@example.org"]}}`)
	plan(all + fmt.Sprintf(rule, "boss@example.org"))
	w.must(t, "apply", "tfplan")
	// A loss that only the warnings of the plan show is denied, unless it is permitted.
	w.write(t, "main.tf", policyConfig+all)
	out, code := w.command(t, "./plan.sh")
	assert.Assert(t, code == 0, out)
	out, code = w.command(t, "./policy.sh")
	const lost = "The plan deletes the forwarding rule to boss@example.org of the account"
	assert.Check(t, code == 1 && strings.Contains(out, "\n"+lost+". To permit that"), "the policy ended with %d:\n%s", code, out)
	w.write(t, "policy/allowed.json", `{"allowed": {"losses": ["`+lost+`"]}}`)
	out, code = w.command(t, "./policy.sh")
	assert.Check(t, code == 0 && out == "", "the policy ended with %d:\n%s", code, out)
	w.must(t, "apply", "tfplan")
	plan(domain+ip+fmt.Sprintf(password, `value = "correct horse"`)+fmt.Sprintf(zone, "none"),
		"mailhost_dns_zone.main: with p=none", "mailhost_master_password.migration: value is stored")
	plan(domain+fmt.Sprintf(zone, "reject")+fmt.Sprintf(record, `"v=DMARC1;p=no" "ne"`), "mailhost_dedicated_ip.out: the plan destroys", "mailhost_dns_record.dmarc: with p=none")
	plan(domain+fmt.Sprintf(record, "v=DMARC1; p=reject; T = Y"), "mailhost_dedicated_ip.out: the plan destroys", "mailhost_dns_record.dmarc: with t=y")
	plan("", "mailhost_dedicated_ip.out: the plan destroys", "mailhost_domain.main: the plan destroys")
	w.write(t, "policy/own.rego", "package mail\n\ndeny contains \"an own rule\" if count(input.resource_changes) > 0\n")
	plan(all, "an own rule")
	summary := filepath.Join(t.TempDir(), "summary")
	w.set("GITHUB_STEP_SUMMARY", summary)
	plan(all, "an own rule")
	assert.Check(t, is.Contains(read(t, summary), "\nan own rule\n"), "the summary does not have the denial")
	for _, rules := range []string{"package other", "package mail\n\ndeny contains {\"msg\": \"no text\"}"} {
		w.write(t, "policy/own.rego", rules)
		w.write(t, "policy/mail.rego", "package other")
		out, code := w.command(t, "./policy.sh")
		assert.Check(t, code != 0 && strings.Contains(out, "The policy was not evaluated"), "without a result of %q the policy ends with %d:\n%s", rules, code, out)
	}
	assert.NilError(t, os.Remove(filepath.Join(w.dir, "tfplan")))
	out, code = w.command(t, "./policy.sh")
	assert.Check(t, code != 0, "without a plan the policy passes: %s", out)
}

// policyConfig is what the configurations of TestAccPolicy share.
const policyConfig = embedded + "data \"mailhost_dedicated_ip_options\" \"all\" {}\n"

// pipeline runs the jobs of examples/ci.
type pipeline struct {
	*workspace
	jobs   map[string]job
	server *acctest.Server
	state  *stateServer
	ci     *ciSystem
	// artifacts are the contents of each job's artifacts.
	artifacts map[string]map[string]string
}

func newPipeline(t *testing.T, jobs map[string]job, github bool) *pipeline {
	t.Helper()
	ci := newCISystem(t, github)
	p := &pipeline{workspace: enter(t, "ci"), jobs: jobs, server: acctest.NewServer(t, acctest.Options{Tokens: ci.trusted(t)}), state: newStateServer(t), ci: ci}
	for _, workload := range []string{"drift", "plan-main", "plan"} {
		for _, c := range api.PlanCapabilities() {
			p.server.Owner(t).GrantTo(vocab.SubjectUser, oauth.WorkloadUser(workload), apitest.Grant{Capability: c})
		}
	}
	p.server.Owner(t).GrantOwner(vocab.SubjectUser, oauth.WorkloadUser("apply"))
	for name, value := range map[string]string{
		"MAILHOST_BASE_URL": p.server.URL, "MAILHOST_ACCOUNT_ID": p.server.AccountID, "MAILHOST_AUDIENCE": trustedAudience,
		"TF_HTTP_ADDRESS": p.state.URL, "TF_HTTP_LOCK_ADDRESS": p.state.URL, "TF_HTTP_UNLOCK_ADDRESS": p.state.URL,
		"TF_HTTP_USERNAME": stateUser, "TF_HTTP_PASSWORD": statePassword,
		"MAILHOST_VERSION": "0.2.0", "MAILHOST_RELEASES": releases(t), "OPA": opa(t),
	} {
		p.set(name, value)
	}
	return p
}

// releases serves the provider like a release and returns the URL of all releases.
func releases(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("terraform-provider-mailhost_0.2.0_%s_%s.zip", runtime.GOOS, runtime.GOARCH)
	archive := []byte("a release")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v0.2.0/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	mux.HandleFunc("GET /v0.2.0/terraform-provider-mailhost_0.2.0_SHA256SUMS", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%x  %s\n%x  another file\n", sha256.Sum256(archive), name, sha256.Sum256(nil))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// opa returns the path of the Open Policy Agent, or of a program that permits everything
// if it is not installed.
func opa(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("opa"); err == nil {
		return path
	}
	path := filepath.Join(t.TempDir(), "opa")
	assert.NilError(t, os.WriteFile(path, []byte("#!/bin/sh\ncat >/dev/null\n"), 0o700))
	return path
}

// run runs a job in a new checkout. It fails unless the job exits with the code want and
// prints all of wants.
func (p *pipeline) run(t *testing.T, name string, want int, wants ...string) {
	t.Helper()
	j, ok := p.jobs[name]
	assert.Assert(t, ok && len(j.steps) != 0, "there is no job %s, or it has no steps", name)
	p.copy(t, "ci")
	for _, needed := range j.needs {
		for file, content := range p.artifacts[needed] {
			p.write(t, file, content)
		}
	}
	p.ci.identify(name, j, p.set)
	out, code := p.command(t, "sh", "-ec", strings.Join(j.steps, "\n"))
	assert.Assert(t, code == want, "%s ended with %d, want %d:\n%s", name, code, want, out)
	for _, text := range wants {
		assert.Check(t, strings.Contains(unwrapped(out), text), "%s does not print %q:\n%s", name, text, out)
	}
	assert.Check(t, !strings.Contains(out, tokenStart), "%s prints a token", name)
	locked := p.state.locked()
	assert.Check(t, !locked, "%s left the state locked", name)
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
	assert.NilError(t, err)
	defer plan.Close()
	found := 0
	for _, file := range plan.File {
		r, err := file.Open()
		assert.NilError(t, err)
		text, err := io.ReadAll(r)
		assert.NilError(t, err)
		for _, secret := range []string{tokenStart, statePassword} {
			assert.Check(t, !strings.Contains(string(text), secret), "%s in the plan holds a credential", file.Name)
		}
		found++
	}
	assert.Check(t, found != 0, "the plan is empty")
}

// mailbox returns the id of a mailbox.
func (p *pipeline) mailbox(t *testing.T, address string) string {
	t.Helper()
	m, err := p.server.Client.Mailboxes.Get(t.Context(), address)
	assert.NilError(t, err)
	return m.ID
}
