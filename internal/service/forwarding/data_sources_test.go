package forwarding_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// three creates a rule in each kind of scope: an active one for the domain, an inactive
// one for the workspace, and a pending one for the account.
func three(t *testing.T, s *acctest.Server) (domain *api.Domain, ofDomain, ofWorkspace, ofAccount *api.Forwarding) {
	t.Helper()
	domain = s.Domain(t, "bücher.com")
	s.Mailbox(t, domain.ID, "office")
	ofDomain = create(t, s, api.CreateForwardingBody{TargetEmail: "office@bücher.com", Domain: &domain.ID})
	ofWorkspace = create(t, s, api.CreateForwardingBody{TargetEmail: "office@bücher.com", WorkspaceID: &s.WorkspaceID})
	ofAccount = create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
	_, err := s.Client.SetForwardingActive(t.Context(), ofWorkspace.ID, false)
	assert.NilError(t, err)
	return domain, ofDomain, ofWorkspace, ofAccount
}

// TestListReadsDomainsOnce counts the requests for the names of the rules' domains.
func TestListReadsDomainsOnce(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for i := range 3 {
		d := s.Domain(t, fmt.Sprintf("example%d.com", i))
		for j := range 4 {
			create(t, s, api.CreateForwardingBody{TargetEmail: fmt.Sprintf("jane%d@example.org", j), Domain: &d.ID})
		}
	}
	var requests atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/domains") {
			requests.Add(1)
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 100)
	p.NoErrors(diags)
	if len(listed) != 12 || listed[11].Text("domain") != "example2.com" || requests.Load() != 1 {
		t.Errorf("listed %d, the last of %s, with %d requests for domains; want 12 with 1", len(listed), listed[len(listed)-1].Text("domain"), requests.Load())
	}
	requests.Store(0)
	listed, diags = p.Query(typeName, nil, 100, false)
	p.NoErrors(diags)
	if len(listed) != 12 || listed[11].DisplayName != "jane3@example.org (domain)" || !listed[11].State.IsNull() || requests.Load() != 0 {
		t.Errorf("without the objects, listed %d, the last of them %v, with %d requests for domains", len(listed), listed[len(listed)-1], requests.Load())
	}
}

// TestGeneratedConfiguration plans the configuration that Terraform generates for an
// imported rule, which contains active.
func TestGeneratedConfiguration(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		three(t, s)
		p := s.Protocol(t, "")
		for _, f := range rules(t, s) {
			o, diags := p.Import(typeName, f.ID, nil)
			p.NoErrors(diags)
			o, diags = p.Read(typeName, o)
			p.NoErrors(diags)
			config := p.AsConfig(typeName, o)
			plan, diags := p.Plan(typeName, config, o)
			p.NoErrors(diags)
			assert.Check(t, config["active"] != nil && plan.State.Equal(o.State) && len(plan.Replace) <= 0, "%v plans %s\nwhile there is %s", config, plan.State, o.State)
			if waits := f.VerificationState == vocab.VerificationPending; waits != (len(diags) == 1) {
				t.Errorf("the plan of a rule with the state %s: %s", f.VerificationState, acctest.Render(diags))
			} else if waits {
				acctest.Expect(t, diags, `WARNING at AttributeName("active")`, "not switched off yet", "generated configuration, remove it")
			}
		}
	})
}
