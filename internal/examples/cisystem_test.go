package examples_test

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
)

// trustedAudience is the audience in the trust files of examples/ci.
const trustedAudience = "https://mail-api.example.com"

// tokenStart begins every token of a CI system: a JWT.
const tokenStart = "eyJ"

// ciSystem issues tokens to jobs as GitHub or GitLab do, with the same claims.
type ciSystem struct {
	*httptest.Server
	github bool
	key    *rsa.PrivateKey

	// event is what the pipeline runs for; "": a push to main, or the schedule for the job drift.
	event      string
	repository string
	audience   string // of tokens; "": the one that the job asks for
	issues     bool
	job        map[string]any // claims of the job that runs
}

func newCISystem(t *testing.T, github bool) *ciSystem {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	ci := &ciSystem{github: github, key: key, repository: "acme/mail", issues: true}
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}}}
	mux := http.NewServeMux()
	mux.Handle("/", issuer)
	mux.HandleFunc("GET /id-token", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-job" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, `{"value":%q}`, ci.token(r.URL.Query().Get("audience")))
	})
	ci.Server = httptest.NewServer(mux)
	t.Cleanup(ci.Close)
	issuer.SetIssuer(ci.URL)
	return ci
}

// trusted returns a verifier by the trust file of the example, for this issuer.
func (ci *ciSystem) trusted(t *testing.T) identity.TokenVerifier {
	t.Helper()
	file := map[bool]string{true: "trust.github.json", false: "trust.gitlab.json"}[ci.github]
	issuer := regexp.MustCompile(`"issuer": "[^"]*"`)
	trust := issuer.ReplaceAllString(read(t, filepath.Join(examples, "ci", file)), `"issuer": "`+ci.URL+`"`)
	verifiers, err := oauth.ReadTrust([]byte(trust), nil, nil)
	assert.NilError(t, err)
	return verifiers
}

// identify sets the variables that a job has.
func (ci *ciSystem) identify(name string, j job, set func(name, value string)) {
	event := ci.event
	if name == "drift" {
		event = "schedule"
	}
	if ci.github {
		ci.job = map[string]any{"repository": ci.repository, "repository_owner": "acme", "event_name": cmp.Or(event, "push"), "ref": "refs/heads/main", "job_workflow_ref": ci.repository + "/.github/workflows/mail.yml@refs/heads/main"}
		if event == "pull_request" {
			ci.job["ref"] = "refs/pull/7/merge"
		}
	} else {
		ci.job = map[string]any{"project_path": ci.repository, "namespace_path": "acme", "pipeline_source": cmp.Or(map[string]string{"pull_request": "merge_request_event"}[event], event, "push"), "ref": "main", "ref_protected": "true"}
		if event == "pull_request" {
			ci.job["ref_protected"] = "false"
		}
	}
	if j.environment != "" && event != "pull_request" { // whose branches the environment does not admit
		ci.job["environment"] = j.environment
	}
	requestURL, requestToken, token := "", "", ""
	switch {
	case !j.identified || !ci.issues:
	case ci.github:
		requestURL, requestToken = ci.URL+"/id-token?api-version=2.0", "of-the-job"
	default:
		token = ci.token(trustedAudience)
	}
	set("ACTIONS_ID_TOKEN_REQUEST_URL", requestURL)
	set("ACTIONS_ID_TOKEN_REQUEST_TOKEN", requestToken)
	set("MAILHOST_ID_TOKEN", token)
}

func (ci *ciSystem) token(audience string) string {
	claims := map[string]any{"iss": ci.URL, "aud": cmp.Or(ci.audience, audience), "sub": "job", "exp": time.Now().Add(time.Hour).Unix(), "jti": rand.Text()}
	maps.Copy(claims, ci.job)
	text, _ := json.Marshal(claims)
	return oidctest.SignIDToken(ci.key, "k", oidc.RS256, string(text))
}

// job is a job of a pipeline.
type job struct {
	// steps are its shell commands.
	steps []string
	// artifacts are the files that the job uploads.
	artifacts []string
	// needs are the jobs whose artifacts it downloads.
	needs []string
	// password is the expression in TF_HTTP_PASSWORD, with which the job reads the state.
	password string
	// identified: the CI system issues a token to the job.
	identified  bool
	environment string
}

// githubJobs parses a GitHub Actions workflow.
func githubJobs(t *testing.T, name string) map[string]job {
	t.Helper()
	var workflow struct {
		Env  map[string]string
		Jobs map[string]struct {
			Needs, Environment string
			Permissions        map[string]string
			Env                map[string]string
			Steps              []struct {
				Run, Uses string
				With      map[string]string
			}
		}
	}
	parse(t, name, &workflow)
	for variable, value := range workflow.Env {
		assert.Check(t, !strings.Contains(value, "secrets."), "every job has %s in %s", value, variable)
	}
	found := map[string]job{}
	for name, described := range workflow.Jobs {
		j := job{password: described.Env["TF_HTTP_PASSWORD"], identified: described.Permissions["id-token"] == "write", environment: described.Environment}
		for _, step := range described.Steps {
			switch {
			case step.Run != "":
				j.steps = append(j.steps, step.Run)
			case uses(step.Uses, "actions/upload-artifact"):
				j.artifacts = append(j.artifacts, strings.Fields(step.With["path"])...)
			case uses(step.Uses, "actions/download-artifact"):
				j.needs = []string{described.Needs}
			}
		}
		assert.Check(t, j.identified == (j.password != ""), "%s has an identity: %t, and the state's password %q; only a job with both or none makes sense", name, j.identified, j.password)
		found[name] = j
	}
	return found
}

// uses reports whether a step uses any version of an action.
func uses(step, action string) bool {
	matches, err := filepath.Match(action+"@*", step)
	return err == nil && matches
}

// gitlabJobs parses a GitLab CI pipeline.
func gitlabJobs(t *testing.T, name string) map[string]job {
	t.Helper()
	var pipeline map[string]yaml.Node
	parse(t, name, &pipeline)
	var first struct {
		BeforeScript []string `yaml:"before_script"`
	}
	shared := pipeline["default"]
	assert.NilError(t, shared.Decode(&first))
	found := map[string]job{}
	for name, node := range pipeline {
		var described struct {
			Script      []string
			Needs       []string
			Artifacts   struct{ Paths []string }
			IDTokens    map[string]struct{ Aud string } `yaml:"id_tokens"`
			Environment string
		}
		if name == "default" || name == "variables" {
			continue
		}
		assert.NilError(t, node.Decode(&described), name)
		found[name] = job{
			steps:      slices.Concat(first.BeforeScript, described.Script),
			artifacts:  described.Artifacts.Paths,
			needs:      described.Needs,
			identified: described.IDTokens["MAILHOST_ID_TOKEN"].Aud == "$MAILHOST_BASE_URL", environment: described.Environment,
		}
	}
	return found
}

func parse(t *testing.T, name string, to any) {
	t.Helper()
	assert.NilError(t, yaml.Unmarshal([]byte(read(t, filepath.Join(examples, "ci", name))), to), name)
}
