package oauth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"gotest.tools/v3/assert"
)

// TestTrustFile checks which trust files are refused, and that the error states the reason.
func TestTrustFile(t *testing.T) {
	t.Parallel()
	file := func(claims string) string {
		return `{"issuers": [{"issuer": "https://ci.test", "audience": "mailhost", "workloads": [{"name": "apply", "claims": {` + claims + `}}]}]}`
	}
	inGitHub := func(claims string) string {
		return strings.Replace(file(claims), "https://ci.test", "https://token.actions.githubusercontent.com", 1)
	}
	for text, want := range map[string]string{
		file(`"repository": "acme/mail", "environment": "production"`):                                               "",
		file(`"repository_id": "7", "event_name": "push", "ref": "refs/heads/main"`):                                 "",
		file(`"repository": "acme/mail", "event_name": "pull_request"`):                                              "",
		file(`"sub": "repo:acme/mail:environment:production"`):                                                       "",
		file(`"sub": "repo:acme/mail:pull_request"`):                                                                 "",
		file(`"sub": "repo:acme/mail:ref:refs/heads/main", "event_name": "push"`):                                    "",
		file(`"sub": "repo:acme/mail:ref:refs/heads/main"`):                                                          "pull_request_target",
		file(`"repository": "acme/mail", "ref": "refs/heads/main"`):                                                  "pull_request_target",
		file(`"repository": "acme/mail", "event_name": "pull_request_target"`):                                       "a fork or a comment can cause",
		file(`"repository": "acme/mail", "event_name": "push"`):                                                      "every branch",
		file(`"repository_owner": "acme", "environment": "production"`):                                              "other repositories match",
		file(`"repository": "acme/*", "environment": "production"`):                                                  "no wildcards",
		file(`"environment": "production", "job_workflow_ref": "acme/mail/.github/workflows/x.yml@refs/heads/main"`): "other repositories match",
		inGitHub(`"sub": "environment:production"`):                                                                  "other repositories match",
		file(`"sub": "job_workflow_ref:acme/mail/.github/workflows/x.yml@refs/heads/main"`):                          "other repositories match",
		file(`"sub": "x", "job_workflow_ref": "acme/mail/x.yml@main", "environment": "production"`):                  `subjects have no "x"`,
		file(`"sub": "repository_owner:acme:environment:production"`):                                                "other repositories match",
		file(`"sub": "repository_visibility:private:environment:production"`):                                        "other repositories match",
		inGitHub(`"sub": "base_ref:main:repo:acme/mail"`):                                                            "pull_request_target",
		file(`"sub": "job_workflow_sha:0a1b2c:environment:production"`):                                              "other repositories match",
		file(`"sub": "repo:acme/mail:colour:blue:environment:production"`):                                           `subjects have no "colour"`,
		file(`"sub": "repo:acme/mail:environment:"`):                                                                 "environment is empty",
		file(`"sub": "repo:acme@12/mail@34:environment:production"`):                                                 "",
		file(`"sub": "repo:acme@12/mail@34:environment:production", "repository": "acme/mail"`):                      "",
		file(`"sub": "repo:acme@12/mail@34:environment:production", "repository": "acme/web"`):                       "no token matches",
		file(`"sub": "repo:acme@12/mail@34:ref:refs/heads/main"`):                                                    "pull_request_target",
		file(`"sub": "repo:Acme/Mail:environment:production"`):                                                       "",
		file(`"sub": "repo::environment:production"`):                                                                "repo is empty",
		file(`"sub": "repo:acme/*"`):                                                                                 "no wildcards",
		file(`"sub": "repo:acme/mail:context:production"`):                                                           `subjects have no "context"`,
		inGitHub(`"sub": "enterprise:acme:environment:production"`):                                                  "other repositories match",
		file(`"sub": "repository_owner_id:12:environment:production"`):                                               "other repositories match",
		inGitHub(`"sub": "actor:jane:environment:production"`):                                                       "other repositories match",
		inGitHub(`"sub": "environment:production:workflow:repo"`):                                                    "other repositories match",
		file(`"sub": "repo:acme/mail:job_workflow_ref:acme/ci/.github/workflows/x.yml@refs/heads/main"`):             "pull_request_target",
		file(`"sub": "repo:acme/mail:ref:refs/heads/main", "event_name": "workflow_run"`):                            "a fork or a comment can cause",
		file(`"repository": "acme/mail", "ref": "refs/heads/main", "event_name": "issue_comment"`):                   "a fork or a comment can cause",
		file(`"repository": "acme/mail", "ref": "refs/heads/main", "event_name": "issues"`):                          "a fork or a comment can cause",
		file(`"repository": "acme/mail", "ref": "refs/heads/main", "event_name": "discussion"`):                      "a fork or a comment can cause",
		file(`"repository": "acme/mail", "ref": "refs/heads/main", "event_name": "fork"`):                            "a fork or a comment can cause",
		file(`"repository": "acme/mail", "ref": "refs/heads/main", "event_name": "watch"`):                           "a fork or a comment can cause",
		file(`"repository": "acme/mail", "ref": "refs/heads/main", "event_name": "check_run"`):                       "a fork or a comment can cause",
		file(`"repository": "acme/mail", "event_name": "deployment"`):                                                "every branch or tag",
		file(`"repository": "acme/mail", "event_name": "workflow_dispatch"`):                                         "every branch or tag",
		file(`"repository": "acme/mail", "event_name": "merge_group"`):                                               "",
		file(`"repository": "acme/mail", "event_name": "repository_dispatch"`):                                       "",
		file(`"sub": "repo:acme/mail:environment:production", "repository": "acme/web"`):                             "no token matches",
		file(`"sub": "repository_id:7:event_name:schedule"`):                                                         "",
		file(`"repository": "acme/mail", "event_name": "release"`):                                                   "every branch or tag",
		file(`"repository": "acme/mail", "event_name": "release", "environment": "production"`):                      "",
		file(`"repository": "acme/mail\u202e", "environment": "production"`):                                         "control character",
		file(`"sub": "system:serviceaccount:mail:terra\u0007form"`):                                                  "control character",
		file(`"sub": "environment:production", "repository": "acme/mail", "environment": "production"`):              "",
		file(`"sub": "project_path:acme/mail:ref_type:branch:ref:main"`):                                             "ref_protected",
		file(`"sub": "project_path:acme/mail:ref_type:branch:ref:main", "ref_protected": "true"`):                    "",
		file(`"sub": "project_id:7:ref:main"`):                                                                       "ref_protected",
		file(`"sub": "job_project_path:acme/mail:ref_protected:true"`):                                               "other projects match",
		file(`"project_path": "acme/mail", "ref": "main"`):                                                           "ref_protected",
		file(`"project_path": "acme/mail", "ref_protected": "true"`):                                                 "",
		file(`"project_path": "acme/mail", "pipeline_source": "merge_request_event"`):                                "",
		file(`"project_path": "acme/mail", "ref_protected": "false"`):                                                "every branch",
		file(`"namespace_path": "acme", "ref_protected": "true"`):                                                    "other projects match",
		file(`"sub": "system:serviceaccount:mail:terraform"`):                                                        "",
		file(`"email": "ci@example.com"`):                                                                            "without the claim sub",
		file(`"sub": "x", "aud": "mailhost"`):                                                                        "the claim aud is checked",
		file(`"sub": ""`):                                                                                            "the claim sub is empty",
		file(``):                                                                                                     "without the claim sub",
		file(`"sub": 5`):                                                                                             "claims",
		// A pull request is a context without a value, and GitHub encodes a colon.
		file(`"sub": "repo:acme/mail:pull_request:job_workflow_ref:acme/mail/.github/workflows/x.yml@refs/pull/7/merge"`):    "",
		file(`"sub": "repo:acme/mail:pull_request", "event_name": "issue_comment"`):                                          "a fork or a comment can cause",
		file(`"sub": "repo:acme/mail:environment:production:job_workflow_ref:acme/ci/.github/workflows/x.yml@refs/tags/v1"`): "",
		file(`"sub": "repo:acme/mail:environment:Prod%3AEU", "environment": "Prod:EU"`):                                      "",
		file(`"sub": "repo:acme/mail:environment:Prod%3AEU", "environment": "Prod:US"`):                                      "no token matches",
		file(`"sub": "repository_owner_id:12:repository_id:7:environment:production"`):                                       "",
		inGitHub(`"sub": "repo:acme/mail:ref:refs/heads/main", "event_name": "schedule"`):                                    "",
		// No token has these.
		file(`"repository": "acme/mail", "event_name": "push", "ref": "main"`):             "it has the form refs/heads/main",
		file(`"repository": "acme/mail", "event_name": "push", "ref": "refs/heads/main "`): "it has the form refs/heads/main",
		file(`"repository": "acme/mail", "event_name": "push", "ref": "refs/heads/main/"`): "it has the form refs/heads/main",
		file(`"repository": "mail", "environment": "production"`):                          "it has the form OWNER/REPOSITORY",
		file(`"repository": "acme/mail/", "environment": "production"`):                    "it has the form OWNER/REPOSITORY",
		file(`"repository": " acme/mail", "environment": "production"`):                    "it has the form OWNER/REPOSITORY",
		file(`"sub": "repo:mail:environment:production"`):                                  "it has the form OWNER/REPOSITORY",
		file(`"project_path": "mail", "ref_protected": "true"`):                            "it has the form GROUP/PROJECT",
		file(`"project_path": "acme/mail ", "ref_protected": "true"`):                      "it has the form GROUP/PROJECT",
		// GitLab on its owner's host shares some claims with GitHub.
		file(`"project_path": "acme/mail", "ref": "main", "ref_protected": "true", "runner_environment": "self-hosted"`):                           "",
		file(`"project_id": "7", "ref_protected": "true", "runner_environment": "self-hosted"`):                                                    "",
		file(`"project_path": "acme/it/mail", "environment": "production", "environment_protected": "true", "sha": "0a1b2c"`):                      "",
		file(`"sub": "project_path:acme/mail:ref_type:branch:ref:main", "ref_protected": "true", "user_login": "jane"`):                            "",
		file(`"project_path": "acme/mail", "ref": "main", "runner_environment": "self-hosted"`):                                                    "ref_protected",
		file(`"ref": "main", "ref_protected": "true", "runner_environment": "self-hosted"`):                                                        "without the claim sub",
		strings.Replace(file(`"project_path": "acme/mail", "pipeline_source": "merge_request_event"`), "https://ci.test", "https://gitlab.com", 1): "",
		// Other issuers.
		file(`"sub": "ref:refs/heads/main"`):                                    "",
		file(`"sub": "workflow:apply"`):                                         "",
		file(`"sub": "environment:production"`):                                 "",
		file(`"sub": "account/a1:org/acme:project/mail", "project_id": "mail"`): "",
		file(`"sub": "org:acme:project:0f3c:repo:mail:ref_type:branch:ref:refs/heads/main", "repo": "mail", "ref_type": "branch"`):     "",
		file(`"sub": "organization:acme:project:Default Project:workspace:mail:run_phase:apply"`):                                      "",
		file(`"sub": "space:default:project:mail:environment:production"`):                                                             "",
		file(`"sub": "p://acme/infra/mail"`):                                                                                           "",
		file(`"sub": "104830219483920183921", "email": "ci@acme.iam.gserviceaccount.com", "email_verified": "true"`):                   "",
		file(`"organization_slug": "acme", "pipeline_slug": "mail", "build_branch": "main", "runner_environment": "self-hosted"`):      "",
		file(`"organization_id": "0184990a", "pipeline_id": "0184990b", "build_branch": "main"`):                                       "",
		file(`"pipeline_slug": "mail", "build_branch": "main"`):                                                                        "organization_slug and pipeline_slug",
		file(`"organization_slug": "acme", "build_branch": "main"`):                                                                    "organization_slug and pipeline_slug",
		file(`"oidc.circleci.com/project-id": "0f3c", "oidc.circleci.com/vcs-ref": "refs/heads/main"`):                                 "",
		file(`"oidc.circleci.com/org-id": "0f3c"`):                                                                                     "without the claim sub",
		file(`"repositoryUuid": "{0f3c}", "deploymentEnvironmentUuid": "{1f3c}"`):                                                      "",
		file(`"deploymentEnvironmentUuid": "{1f3c}"`):                                                                                  "without the claim sub",
		file(`"terraform_organization_name": "acme", "terraform_workspace_name": "mail", "terraform_run_phase": "apply"`):              "",
		file(`"terraform_organization_id": "org-1", "terraform_workspace_id": "ws-1", "terraform_run_phase": "plan"`):                  "",
		file(`"terraform_workspace_name": "mail", "terraform_run_phase": "apply"`):                                                     "without the claim sub",
		strings.ReplaceAll(file(`"sub": "system:node:a"`), "https://ci.test", "https://gitlab.com"):                                    `GitLab's subjects have no "system"`,
		strings.ReplaceAll(file(`"sub": "colour:blue"`), "https://ci.test", "https://token.actions.githubusercontent.com"):             `GitHub's subjects have no "colour"`,
		strings.ReplaceAll(file(`"environment": "production"`), "https://ci.test", "https://github.example.com/_services/token"):       "other repositories match",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost"`, `"audience": "*"`, 1):                                            "no wildcards",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost"`, `"audience": "https://github.com/acme"`, 1):                      "is a default",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost"`, `"audience": "https://kubernetes.default.svc.cluster.local"`, 1): "is a default",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost"`, `"audience": "https://ci.test/"`, 1):                             "is a default",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost"`, `"audience": "kubernetes.default.svc"`, 1):                       "is a default",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost"`, `"audience": "k3s"`, 1):                                          "is a default",
		strings.NewReplacer("https://ci.test", "https://git.acme.test/_services/token", "mailhost", "https://git.acme.test/acme").
			Replace(file(`"sub": "repo:acme/mail:environment:production"`)): "is a default",
		strings.NewReplacer("https://ci.test", "https://token.actions.acme.ghe.com", "mailhost", "https://acme.ghe.com/acme").
			Replace(file(`"sub": "repo:acme/mail:environment:production"`)): "is a default",
		`{"issuers": []}`: "no issuers",
		`{"issuers": [{"issuer": "https://ci.test", "audience": "mailhost", "workloads": []}]}`:               "no workloads",
		strings.Replace(file(`"sub": "x"`), "apply", "Apply now", 1):                                          "no name of a workload",
		strings.Replace(file(`"sub": "x"`), `"audience": "mailhost", `, "", 1):                                "audience",
		strings.Replace(file(`"sub": "x"`), `"claims"`, `"claim": {}, "claims"`, 1):                           "claim",
		strings.Replace(file(`"sub": "x"`), `}}]}]}`, `}}, {"name": "apply", "claims": {"sub": "y"}}]}]}`, 1): "there twice",
	} {
		_, err := ReadTrust([]byte(text), nil, nil)
		assert.Check(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)), "%s\n%v; want …%s…", text, err, want)
	}
}

// TestTrustedAudiences checks that an audience that tokens for other services have is refused.
func TestTrustedAudiences(t *testing.T) {
	t.Parallel()
	for issuer, audiences := range map[string][]string{
		"https://ci.test": {
			"sts.amazonaws.com", "https://sts.amazonaws.com/", "api://AzureADTokenExchange", "sigstore", "https://buildkite.com/acme", "vault", "vault.io", "aws.workload.identity",
			"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q", "https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
			"api", "istio-ca", "k3s", "kubernetes.svc.default", "http://kubernetes.default.svc", "https://kubernetes.default.svc", "https://ci.test",
		},
		"https://git.acme.test/_services/token": {"https://git.acme.test/acme", "https://github.com/acme"},
	} {
		for _, audience := range audiences {
			err := checkTrustAudience(issuer, audience)
			assert.Check(t, err != nil && strings.Contains(err.Error(), "is a default"), "%s of %s: %v", audience, issuer, err)
		}
	}
	for _, audience := range []string{"mailhost", "https://mail-api.example.com", "https://api", "https://vault.example.com", "https://ci.test/mail", "api://mailhost", "mail.api"} {
		assert.NilError(t, checkTrustAudience("https://ci.test", audience), audience)
	}
}

// TestWorkloads sends tokens of two issuers. Each is valid only for its own issuer's workloads.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	github, gitlab := newIssuer(t), newIssuer(t)
	file, err := json.Marshal(obj{"issuers": []obj{
		{"issuer": github.url, "audience": audience, "workloads": []obj{
			{"name": "apply", "claims": obj{"repository": "acme/mail", "environment": "production"}},
			{"name": "plan", "claims": obj{"repository": "acme/mail", "event_name": "pull_request"}},
		}},
		{"issuer": gitlab.url, "audience": audience, "workloads": []obj{
			{"name": "gitlab", "claims": obj{"project_path": "acme/mail", "ref_protected": "true"}},
		}},
	}})
	assert.NilError(t, err)
	all, err := ReadTrust(file, github.clock.Now, github.log.Logger())
	assert.NilError(t, err)
	es256 := func(i *issuer, pairs ...any) string {
		return sign(t, jose.ES256, p256Key, obj{"kid": "p256", "typ": "JWT"}, i.claims(pairs...))
	}
	for _, c := range []struct{ what, token, user, problem string }{
		{"the environment", github.token("repository", "acme/mail", "environment", "production", "event_name", "push"), "workload:apply", ""},
		{"a pull request", github.token("repository", "acme/mail", "event_name", "pull_request"), "workload:plan", ""},
		{"a boolean", es256(gitlab, "project_path", "acme/mail", "ref_protected", true), "workload:gitlab", ""},
		{"another environment", github.token("repository", "acme/mail", "environment", "test"), "", "apply needs environment production; plan needs event_name pull_request"},
		{"a list", github.token("repository", "acme/mail", "environment", []string{"production"}), "", "apply needs environment production"},
		{"a fork", github.token("repository", "evil/mail", "environment", "production"), "", errNoWorkload.Error()},
		{"the other issuer's claims", github.token("project_path", "acme/mail", "ref_protected", "true"), "", errNoWorkload.Error()},
		{"another audience", github.token("aud", "x", "repository", "acme/mail", "environment", "production"), "", errAudience.Error()},
		{"an expired token", github.token("exp", start.Unix(), "repository", "acme/mail", "environment", "production"), "", "expired"},
		{"another key", sign(t, jose.RS256, otherRSA, obj{"kid": "rsa"}, github.claims("repository", "acme/mail", "environment", "production")), "", errSignature.Error()},
		{"an unknown issuer", github.token("iss", "https://evil.test"), "", errIssuer.Error()},
		{"no token", "abc", "", errMalformed.Error()},
	} {
		user, err := all.VerifyToken(t.Context(), c.token)
		if user.ID != c.user || (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) || c.what == "a fork" && strings.Contains(err.Error(), "acme")) {
			t.Errorf("%s: user %q, error %v; want %q, …%s…", c.what, user.ID, err, c.user, c.problem)
		}
	}
	user, err := all.VerifyToken(t.Context(), github.token("repository", "acme/mail", "environment", "production"))
	assert.Check(t, err == nil && user.Name == "environment production, repository acme/mail" && !user.ExpiresAt.IsZero() && len(user.Groups) == 0, "the user is %+v, %v", user, err)
	// An issuer of people's tokens can't issue a workload's token.
	github.rejects(github.token("sub", WorkloadUser("apply")), errReserved)
}
