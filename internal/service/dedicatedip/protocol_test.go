package dedicatedip_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const ipType = "mailhost_dedicated_ip"

func isClaim(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/dedicated-ips/claim") }

// TestRefused checks that the error about an exhausted or unknown option lists the
// available options.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, publishedOnly := range []bool{false, true} {
		s := acctest.NewServer(t, acctest.Options{PublishedOnly: publishedOnly})
		for range 16 {
			claim(t, s, "eu")
		}
		next := "Set option_id to an option that has addresses left: " + option(s, "us") + " (United States, US, 16 left)."
		if publishedOnly {
			next = "Set option_id to an option that has addresses left; the service's own control panel shows them."
		}
		p := s.Protocol(t, "")
		for optionID, why := range map[string]string{
			option(s, "eu"): "is exhausted", "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e": "There is no dedicated IP option",
		} {
			o, diags := p.Apply(t.Context(), ipType, map[string]any{"option_id": optionID, "on_existing": "create"}, nil)
			acctest.Expect(t, diags, `ERROR at AttributeName("option_id"): Can't claim a dedicated IP from the option `+optionID, why, next)
			assert.Check(t, o.Gone() && !strings.Contains(acctest.Render(diags), "import it"), "advice: %s", acctest.Render(diags))
		}
		if !publishedOnly {
			for range 16 {
				claim(t, s, "us")
			}
			_, diags := p.Plan(ipType, map[string]any{}, nil)
			acctest.Expect(t, diags, "ERROR", "No option has addresses left: release a dedicated IP")
		}
	}
}

// TestOptionMissing checks that the plan of a claim without an option lists the available
// options.
func TestOptionMissing(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		offers := []string{"Set option_id to an option that has addresses left: ", option(s, "eu") + " (Europe, DE, 16 left)", option(s, "us") + " (United States, US, 16 left)"}
		if s.PublishedOnly {
			offers = []string{"Set option_id to an option that has addresses left; the service's own control panel shows them."}
		}
		want := append([]string{`ERROR at AttributeName("option_id"): option_id is missing to claim a dedicated IP`}, append(offers, "import it")...)
		_, diags := p.Plan(ipType, map[string]any{}, nil)
		acctest.Expect(t, diags, want...)

		unknown := map[string]any{"option_id": acctest.Unknown}
		plan, diags := p.Plan(ipType, unknown, nil)
		if p.NoErrors(diags); plan.Text("option_id") != "(unknown)" {
			t.Errorf("unknown in the plan: %s", acctest.Render(diags))
		}
		o, diags := p.ApplyPlan(t.Context(), ipType, map[string]any{}, nil, plan)
		acctest.Expect(t, diags, want...)
		assert.Check(t, o.Gone() && !slices.Contains(s.Sent(), api.ClaimDedicatedIP.ID), "something was claimed")
	})
}

// TestProvisioning checks that a claim waits while the address is provisioned, and keeps
// the address after a timeout.
func TestProvisioning(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reads   int32 // reads that return the address as provisioning
		status  string
		warning []string
	}{
		"in time": {1, "active", nil},
		"too slow": {1 << 30, "provisioning", []string{
			"WARNING: The dedicated IP Europe", "is not ready yet", "It exists, and its status is provisioning", "Run apply again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{})
			left := new(atomic.Int32)
			left.Store(test.reads)
			p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if isClaim(r) || strings.Contains(r.URL.Path, "/dedicated-ips/") && left.Add(-1) >= 0 {
					acctest.Rewrite(w, r, next, func(body string) string { return strings.Replace(body, `"active"`, `"provisioning"`, 1) })
					return
				}
				next.ServeHTTP(w, r)
			}))
			config := map[string]any{"option_id": option(s, "eu"), "timeouts": map[string]any{"create": "2s"}}
			o, diags := p.Apply(t.Context(), ipType, config, nil)
			p.NoErrors(diags)
			assert.Check(t, o.Text("status") == test.status && o.Text("id") != "" && (len(test.warning) != 0 || len(diags) == 0), "status %s, %s", o.Text("status"), acctest.Render(diags))
			acctest.Expect(t, diags, test.warning...)
			left.Store(0)
			o, diags = p.Read(ipType, o)
			p.NoErrors(diags)
			plan, diags := p.Plan(ipType, config, o)
			p.NoErrors(diags)
			assert.Check(t, o.Text("status") == "active" && plan.State.Equal(o.State), "becoming active made a plan")
		})
	}
}

// TestOutcomeUnknown checks that a claim with an unknown outcome is not repeated.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var sent atomic.Int32
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isClaim(r) {
			sent.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{}`))
			return
		}
		next.ServeHTTP(w, r)
	}))
	o, diags := p.Apply(t.Context(), ipType, map[string]any{"option_id": option(s, "eu"), "timeouts": map[string]any{"create": "2s"}}, nil)
	acctest.Expect(t, diags, "ERROR: Can't claim a dedicated IP", "outcome is unknown", "Check the account's dedicated IPs", "is in no Terraform state, and import it")
	assert.Check(t, sent.Load() == 1 && o.Gone(), "sent %d times", sent.Load())
}

// option returns the id of the account's option eu or us.
func option(s *acctest.Server, region string) string {
	return api.DerivedID(s.AccountID, "dedicated-ip-option:"+region)
}

func claim(t *testing.T, s *acctest.Server, region string) {
	t.Helper()
	_, err := s.Client.ClaimDedicatedIP(t.Context(), option(s, region))
	assert.NilError(t, err)
}
