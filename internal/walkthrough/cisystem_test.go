package walkthrough_test

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
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
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
func (ci *ciSystem) trusted(t *testing.T) apiserver.TokenVerifier {
	t.Helper()
	file := map[bool]string{true: "trust.github.json", false: "trust.gitlab.json"}[ci.github]
	trust, err := oauth.ReadTrust([]byte(read(t, filepath.Join(examples, "ci", file))))
	assert.NilError(t, err)
	trust.Issuers[0].Issuer = ci.URL
	verifiers, err := trust.Verifiers(nil, nil)
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
