package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestForwardingIsVerifiedByMail(t *testing.T) {
	t.Parallel()
	m := mailhostdtest.NewInbox(t)
	s, owner := mailhostdtest.Start(t, m.Flags()...)
	if line := s.Log.Wait(t, "sending messages"); line["server"] != "smtp://"+m.Addr || line["from"] != "no-reply@mail.example" {
		t.Errorf("log line: %v", line)
	}
	c := s.As(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"Jane@Example.ORG"}`).Want(http.StatusCreated).Into(&rule)
	link := m.Link(t, "jane@example.org")
	assert.Assert(t, strings.HasPrefix(link, s.URL+"/verify-forwarding/"), "the message has the link %q", link)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
		assert.Check(t, rule.VerificationState == vocab.VerificationPending, "before a %s request to the link the rule is %s", method, rule.VerificationState)
		status, _ := mailhostdtest.Fetch(t, method, link)
		assert.Assert(t, status == http.StatusOK, "%s of the link: %d", method, status)
	}
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	assert.Check(t, rule.Active && rule.VerificationState == vocab.VerificationVerified, "the rule is %+v", rule)
	line := s.Log.Wait(t, "verification message sent")
	assert.Check(t, line["forwarding_id"] == rule.ID && line["attempts"] == 1.0 && line["request_id"] != "", "log line: %v", line)
	log := s.Log.String()
	for _, secret := range []string{link[strings.LastIndex(link, "/")+1:], "p@ss", "p%40ss"} {
		assert.Check(t, !strings.Contains(log, secret), "the log contains %s:\n%s", secret, log)
	}
}
