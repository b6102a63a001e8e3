package forwarding_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const resend = "mailhost_resend_forwarding_verification"

// expectProgress fails the test unless each text is part of exactly one progress message.
func expectProgress(t *testing.T, progress []string, parts ...string) {
	t.Helper()
	assert.Check(t, slices.EqualFunc(progress, parts, strings.Contains), "the progress is %q, want %q", progress, parts)
}

func TestResend(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		f := create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
		invoke := func(parts ...string) {
			t.Helper()
			progress, diags := s.Protocol(t, "").Invoke(resend, attributes{"forwarding_id": strings.ToUpper(f.ID)})
			assert.Check(t, len(diags) == 0, "the diagnostics are %s", acctest.Render(diags))
			expectProgress(t, progress, parts...)
		}
		now := s.Control.Clock.Now().Add(2 * hour).Truncate(hour).UTC()
		assert.NilError(t, s.Control.Clock.Set(now))
		invoke("Sending a new verification message to jane@example.org; the state is pending", "has until "+now.Add(72*hour).Format("2006-01-02T15:"))
		s.Advance(100 * hour)
		invoke("the state is expired", "was sent a new message")
		if sent := s.Service.Outbox(); len(sent) != 2 || sent[1].To != "jane@example.org" {
			t.Errorf("the messages are %v, want two", sent) // the create's message was sent by another server
		}
		confirm(t, s)
		invoke("Nothing to send: jane@example.org has confirmed already")

		d := s.Domain(t, "example.com")
		s.Mailbox(t, d.ID, "office")
		f = create(t, s, api.CreateForwardingBody{TargetEmail: "office@example.com"})
		invoke("Nothing to send: office@example.com is an address of the account")
		f = create(t, s, api.CreateForwardingBody{TargetEmail: "joe@example.com"})
		s.Mailbox(t, d.ID, "joe")
		invoke("Sending", "Done: joe@example.com is an address of the account")
	})
}

func TestResendRefused(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		f := create(t, s, api.CreateForwardingBody{TargetEmail: "jane@example.org"})
		const missing = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
		p := s.Protocol(t, "")
		_, diags := p.Invoke(resend, attributes{"forwarding_id": "jane@example.org"})
		acctest.Expect(t, diags, `ERROR at AttributeName("forwarding_id")`, "forwarding_id must be a UUID")
		progress, diags := p.Invoke(resend, attributes{"forwarding_id": missing})
		acctest.Expect(t, diags, `ERROR at AttributeName("forwarding_id"): Can't send the verification message of the forwarding rule `+missing, "o such forwarding rule", "Check the id")
		expectProgress(t, progress)

		s.Fault(t, fault.Rule{Operation: api.UpdateForwarding.ID, Status: http.StatusTooManyRequests, RetryAfter: int(time.Hour.Seconds())})
		progress, diags = p.Invoke(resend, attributes{"forwarding_id": f.ID})
		acctest.Expect(t, diags, "ERROR", f.ID, "HTTP 429, request id ", "after that time")
		expectProgress(t, progress, "Sending")
	})
}
