package serve_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TestTrustedWorkloads checks the jobs that a server with a trust file accepts, with the claims of
// GitHub Actions and GitLab CI.
func TestTrustedWorkloads(t *testing.T) {
	t.Parallel()
	github, gitlab, people := mailhostdtest.NewIssuer(t), mailhostdtest.NewIssuer(t), mailhostdtest.NewIssuer(t)
	file := filepath.Join(t.TempDir(), "trust.json")
	trust := fmt.Sprintf(`{"issuers": [
		{"issuer": %q, "audience": "mailhost", "workloads": [
			{"name": "plan", "claims": {"repository": "acme/mail", "event_name": "pull_request"}},
			{"name": "apply", "claims": {"repository": "acme/mail", "environment": "production"}}]},
		{"issuer": %q, "audience": "https://mail.example.com", "workloads": [
			{"name": "gitlab", "claims": {"project_path": "acme/mail", "ref_protected": "true"}}]}]}`, github.URL, gitlab.URL)
	assert.NilError(t, os.WriteFile(file, []byte(trust), 0o600))
	s, owner := mailhostdtest.Start(t, "--trust", file, "--oauth-issuer", people.URL, "--oauth-audience", "mailhost")

	job := func(i *mailhostdtest.Issuer, audience string, changes map[string]any) *apitest.Client {
		claims := map[string]any{
			"sub": "repo:acme/mail:environment:production", "repository": "acme/mail", "repository_owner": "acme", "event_name": "push",
			"ref": "refs/heads/main", "environment": "production", "run_id": "1658821493", "actor": "octo\u202ecat", "sha": strings.Repeat("4f", 200), "job_workflow_ref": "acme/mail/.github/workflows/mail.yml@refs/heads/main",
		}
		maps.Copy(claims, changes)
		c := s.As(t, owner)
		c.Token = i.Token(audience, claims)
		return c
	}
	pullRequest := map[string]any{"sub": "repo:acme/mail:pull_request", "event_name": "pull_request", "environment": "", "ref": "refs/pull/1/merge"}
	apply, plan := job(github, "mailhost", nil), job(github, "mailhost", pullRequest)

	// A trusted workload has no rights until it gets a grant, and none after it is revoked.
	apply.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusForbidden)
	s.As(t, owner).GrantTo(vocab.SubjectUser, "workload:plan", apitest.Grant{Capability: vocab.CapMailboxView})
	environ := mailhostdtest.HTTPEnviron(s, owner)
	grant := mailhostdtest.RunJSON[[]struct{ ID string }](t, environ, "grant", "add", "--workload", "apply", "--grant", "account_owner", "--json")
	plan.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	plan.Do(http.MethodPost, "/auth/service-accounts", map[string]any{"name": "made-by-ci"}).Want(http.StatusForbidden)
	apply.Do(http.MethodGet, "/domains", nil).Want(http.StatusOK)
	left := apply.Do(http.MethodPost, "/auth/service-accounts", map[string]any{"name": "made-by-ci"}).Want(http.StatusCreated)
	_, log, _ := mailhostdtest.RunWith(t, environ, "audit")
	for _, want := range []string{"workload:apply", "environment production, repository acme/mail", `actor octo\u202ecat, `, "run_id 1658821493, sha " + strings.Repeat("4f", 127) + "…"} {
		assert.Check(t, strings.Contains(log, want), "the audit log does not have %q:\n%s", want, log)
	}

	for want, stranger := range map[string]*apitest.Client{
		"apply needs environment production": job(github, "mailhost", map[string]any{"environment": "", "ref": "refs/heads/x"}),
		"match no trusted workload":          job(gitlab, "https://mail.example.com", nil),
		"reserved for workloads":             job(people, "mailhost", map[string]any{"sub": "workload:apply", "client_id": "cli"}),
		"not signed by a key":                job(people, "mailhost", map[string]any{"iss": github.URL}),
	} {
		body := stranger.Do(http.MethodGet, "/domains", nil).Want(http.StatusUnauthorized).String()
		assert.Check(t, strings.Contains(body, want), "%s; want …%s…", body, want)
	}
	job(gitlab, "https://mail.example.com", map[string]any{"project_path": "acme/mail", "ref_protected": "true"}).Do(http.MethodGet, "/domains", nil).Want(http.StatusForbidden)

	// What the job has left behind is named, and ends.
	code, _, listed := mailhostdtest.RunWith(t, environ, "grant", "remove", grant[0].ID)
	assert.Assert(t, code == 0 && strings.Contains(listed, "service_account "+left.Str("id")+`: "made-by-ci", expires never`), listed)
	apply.Do(http.MethodGet, "/domains", nil).Want(http.StatusForbidden)
	byCI := s.As(t, owner)
	byCI.Token = left.Str("token")
	byCI.Do(http.MethodGet, "/domains", nil).Want(http.StatusOK)
	code, _, problem := mailhostdtest.RunWith(t, environ, "grant", "remove", "--workload", "apply", "--with-children")
	assert.Assert(t, code == 0, problem)
	byCI.Do(http.MethodGet, "/domains", nil).Want(http.StatusUnauthorized)
}

// TestUnknownWorkloads checks that doctor and the start of a server name the workloads with grants that the trust file
// does not name, and that nobody can grant to a workload that none can name.
func TestUnknownWorkloads(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	file := filepath.Join(t.TempDir(), "trust.json")
	assert.NilError(t, os.WriteFile(file, fmt.Appendf(nil, `{"issuers": [{"issuer": %q, "audience": "mailhost", "workloads": [
		{"name": "apply", "claims": {"repository": "acme/mail", "environment": "production"}}]}]}`, i.URL), 0o600))
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, "--trust", file)
	c := s.As(t, owner)
	removed := c.GrantOwner(vocab.SubjectUser, "workload:removed")
	c.Delete("/auth/authorizations/" + removed).Want(http.StatusNoContent)
	for _, name := range []string{"workload:apply", "workload:apply-prod", "workload:typo", "jane"} {
		c.GrantOwner(vocab.SubjectUser, name)
	}
	for _, name := range []string{"workload:APPLY", "workload:", "workload: apply", "workload:a/b"} {
		c.Do(http.MethodPost, "/auth/authorizations", map[string]any{"grant_kind": "account_owner", "subject_type": "user", "subject_id": name}).Refused(http.StatusUnprocessableEntity, "body.subject_id value_error")
	}
	for trust, unknown := range map[string]string{file: "apply-prod, typo", "": "apply, apply-prod, typo"} {
		const warning = "no trust file names these workloads, so that their grants permit nothing: "
		args := []string{"--database", database}
		if trust != "" {
			args = append(args, "--trust", trust)
		}
		_, found, _ := mailhostdtest.Run(t, append([]string{"doctor", "--json"}, args...)...)
		assert.Check(t, strings.Contains(found, warning+unknown+";"), "doctor with %q: %s", trust, found)
		log := mailhostdtest.Serve(t, database, args[2:]...).Log.String()
		assert.Check(t, strings.Count(log, warning+unknown+";") == 1, "the log of a server with %q: %s", trust, log)
	}
}

func TestOAuthAccessTokens(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	i.Set(func() { i.Down = true })
	token := func(audience string, expiry time.Time) string {
		return i.Token(audience, map[string]any{"roles": []string{"ops"}, "exp": expiry.Unix()})
	}
	later := time.Now().Add(time.Hour)
	good := token("mailhost", later)

	// The server starts although the issuer is down.
	s, owner := mailhostdtest.Start(t, "--oauth-issuer", i.URL, "--oauth-audience", "mailhost", "--oauth-groups-claim", "roles")
	as := func(token string) *apitest.Client {
		c := s.As(t, owner)
		c.Token = token
		return c
	}
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusServiceUnavailable)
	i.Set(func() { i.Down = false })
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusForbidden)
	as(owner.Token).GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView})
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	as(good).Do(http.MethodGet, "/domains", nil).Want(http.StatusForbidden)
	as(token("other", later)).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusUnauthorized)
	as(token("mailhost", time.Now().Add(-time.Minute))).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusUnauthorized)
	log := s.Log.String()
	assert.Check(t, !strings.Contains(log, good) && strings.Contains(log, "the OAuth issuer's keys can't be fetched"), "log:\n%s", log)
}
