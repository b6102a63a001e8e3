package serviceaccount_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	mailhost "github.com/mailhost/terraform-provider-mailhost/internal/provider"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

const tokenType = "mailhost_service_account_token"

// living returns the ids of the service accounts that are not revoked and did not exist before.
func living(t *testing.T, s *acctest.Server, but ...string) (ids []string) {
	t.Helper()
	for a, err := range s.Client.ListServiceAccounts(t.Context()) {
		assert.NilError(t, err)
		if a.RevokedAt == nil && a.Name != "owner" && !slices.Contains(but, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func TestToken(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		for _, want := range []struct {
			config   map[string]any
			name     string
			lifetime time.Duration
		}{
			{nil, "terraform-ephemeral", time.Hour},
			{map[string]any{"name": "CI", "lifetime": "90m"}, "CI", 90 * time.Minute},
		} {
			o, diags := p.Open(tokenType, want.config)
			p.NoErrors(diags)
			expiring(t, o, time.Now(), want.lifetime)
			if o.Text("name") != want.name || !works(s, o.Text("token")) || !slices.Equal(living(t, s), []string{o.Text("id")}) && !s.PublishedOnly {
				t.Errorf("opened %s; there are %v", o.State, living(t, s))
			}
			assert.Check(t, !strings.Contains(string(o.Private), o.Text("token")), "the token is in the private data")
			diags = p.Close(tokenType, o)
			p.NoErrors(diags)
			assert.Check(t, works(s, o.Text("token")) == s.PublishedOnly, "closed: the token works: %t", !s.PublishedOnly)
			if s.PublishedOnly {
				acctest.Expect(t, diags, fmt.Sprintf("WARNING: The service account %q is not revoked", want.name), "no operation that revokes", "expires at "+o.Text("expires_at"), o.Text("id"))
			} else if len(diags) > 0 || len(living(t, s)) > 0 {
				t.Errorf("closed; there are %v\n%s", living(t, s), acctest.Render(diags))
			}
			// An expired token needs no revocation.
			diags = at(t, s, time.Now().Add(want.lifetime+time.Minute)).Close(tokenType, o)
			assert.Check(t, len(diags) == 0, "closed after the expiry: %s", acctest.Render(diags))
		}
	})
}

// ending is a provider that a test can close.
type ending struct {
	provider.Provider
	session *session.Session
}

func (p *ending) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	p.Provider.Configure(ctx, req, resp)
	p.session, _ = resp.EphemeralResourceData.(*session.Session)
}

func (p *ending) EphemeralResources(ctx context.Context) []func() ephemeral.EphemeralResource {
	return p.Provider.(provider.ProviderWithEphemeralResources).EphemeralResources(ctx)
}

// TestTokenLeftOpen stops the provider without a close, as Terraform does after a failed
// or interrupted run.
func TestTokenLeftOpen(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		served := &ending{Provider: mailhost.New("test")()}
		var revocations atomic.Int32
		p := s.ProtocolOf(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodDelete {
				revocations.Add(1)
			}
			next.ServeHTTP(w, r)
		}), served)
		var open []*acctest.Object
		for range 3 {
			o, diags := p.Open(tokenType, nil)
			p.NoErrors(diags)
			open = append(open, o)
		}
		p.NoErrors(p.Close(tokenType, open[0]))
		assert.Check(t, served.session.Close(t.Context()), "the end of the session")
		if n := revocations.Load(); !s.PublishedOnly && n != 3 { // a closed token is not revoked again
			t.Errorf("%d revocations of 3 tokens", n)
		}
		for _, o := range open {
			assert.Check(t, works(s, o.Text("token")) == s.PublishedOnly, "after the end the token of %s works: %t", o.Text("id"), !s.PublishedOnly)
		}
	})
}

// TestTokenNotRevoked checks the error if the revocation fails.
func TestTokenNotRevoked(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Fault(t, fault.Rule{Operation: api.RevokeServiceAccount.ID, Status: http.StatusForbidden})
	p := s.Protocol(t, "")
	o, diags := p.Open(tokenType, map[string]any{"lifetime": "15m"})
	p.NoErrors(diags)
	diags = p.Close(tokenType, o)
	acctest.Expect(t, diags, `ERROR: Can't revoke the service account "terraform-ephemeral"`, "HTTP 403", "expires at "+o.Text("expires_at"), o.Text("id"), "control panel")
	assert.Check(t, !strings.Contains(acctest.Render(diags), o.Text("token")), "the diagnostics contain the token")
	o.Private = nil
	acctest.Expect(t, p.Close(tokenType, o), "ERROR: Can't revoke the service account of an ephemeral token", "when its lifetime is over")
}

// TestLostResponsesOfTokens loses or refuses the response to each request that opens a token with
// permissions, in each way, and then to each request that closes it. A token has the permissions, or there
// is none; afterwards no service account is left.
func TestLostResponsesOfTokens(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	hooks := client.Hooks{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Parallel: 1}
	config := map[string]any{"permissions": []any{map[string]any{"capability_key": "mailbox.view"}, map[string]any{"capability_key": "domain.view"}}}
	for kind, url := range map[string]string{"keys": s.URL, "no keys": s.WithoutKeys(t)} {
		for name, rule := range map[string]fault.Rule{
			"broken before": {Drop: fault.Before}, "broken after": {Drop: fault.After}, "500 after": {Status: 500, After: true}, "403": {Status: 403},
		} {
			rule.Operation = fault.Any
			isFired := true
			for rule.Nth = 1; isFired; rule.Nth++ {
				p := s.ProtocolOf(t, url, mailhost.NewReplaced("test", mailhost.Replacements{Hooks: hooks})())
				s.Fault(t, rule)
				o, diags := p.Open(tokenType, config)
				isFired = s.Faults.Rules()[0].Fired > 0
				if s.Faults.Clear(); acctest.Errors(diags) > 0 {
					assert.Check(t, len(living(t, s)) == 0, "%s, %s of request %d leaves %v: %s", kind, name, rule.Nth, living(t, s), acctest.Render(diags))
					continue
				}
				assert.Check(t, slices.Equal(grants(t, s, o.Text("id")), []string{"domain.view", "mailbox.view"}) && works(s, o.Text("token")), "%s, %s of request %d: the token may %v", kind, name, rule.Nth, grants(t, s, o.Text("id")))
				once := rule
				once.Nth = 1
				s.Fault(t, once)
				diags = p.Close(tokenType, o)
				if s.Faults.Clear(); acctest.Errors(diags) > 0 {
					acctest.Expect(t, diags, "HTTP 403", "expires at", o.Text("id"))
					p.NoErrors(p.Close(tokenType, o))
				}
				assert.Check(t, len(living(t, s)) == 0 && !works(s, o.Text("token")), "%s, %s: closed, there are %v", kind, name, living(t, s))
			}
			assert.Check(t, rule.Nth > 5, "%s: only %d requests", name, rule.Nth)
		}
	}
}

// TestTokenLost loses the response of an API that ignores idempotency keys while another run
// uses a token with the same name. The resource is tainted, so that the next apply revokes it.
func TestTokenLost(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	other, diags := s.Protocol(t, "").Open(tokenType, nil)
	s.Fault(t, fault.Rule{Operation: api.CreateServiceAccount.ID, Drop: fault.After})
	p := s.Protocol(t, s.WithoutKeys(t))
	p.NoErrors(diags)
	_, diags = p.Open(tokenType, nil)
	left := living(t, s, other.Text("id"))
	assert.Check(t, works(s, other.Text("token")), "the other run's token is revoked")
	acctest.Expect(t, diags, `ERROR: Can't create the service account "terraform-ephemeral"`, "The API's response was lost", "has been revoked", "Run the command again")
	assert.Check(t, len(left) == 0 && !strings.Contains(acctest.Render(diags), other.Text("id")), "there are %v:\n%s", left, acctest.Render(diags))
	o, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI"}, nil)
	acctest.Expect(t, diags, "ERROR", "It is tainted in Terraform's state")
	assert.Check(t, !o.Gone() && o.Null("token"), "the state has %s", o.State)
}

func TestTokenRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"too short": {map[string]any{"lifetime": "59s"}, []string{`ERROR at AttributeName("lifetime")`, "from 1m to 24h"}},
		"too long":  {map[string]any{"lifetime": "25h"}, []string{`ERROR at AttributeName("lifetime")`, "from 1m to 24h"}},
		"days":      {map[string]any{"lifetime": "1d"}, []string{`ERROR at AttributeName("lifetime")`, "a day is 24h"}},
		"no name":   {map[string]any{"name": ""}, []string{`ERROR at AttributeName("name")`, "1 to 120 characters"}},
	} {
		_, diags := p.Open(tokenType, c.config)
		if acctest.Expect(t, diags, c.want...); len(diags) != 1 || diags[0].Severity != tfprotov6.DiagnosticSeverityError {
			t.Errorf("%s: %s", name, acctest.Render(diags))
		}
	}
	left := living(t, s)
	assert.Check(t, len(left) == 0, "there are %v", left)
}
