package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer/smtptest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestForwardingIsVerifiedByMail(t *testing.T) {
	t.Parallel()
	m := mailhostdtest.NewInbox(t)
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, m.Flags()...)
	if line := s.Log.Wait(t, "sending messages"); line["server"] != "smtp://"+m.Addr || line["from"] != "no-reply@mail.example" {
		t.Errorf("log line: %v", line)
	}
	c := s.As(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"Jane@Example.ORG"}`).Want(http.StatusCreated).Into(&rule)
	link := m.Link(t, "jane@example.org")
	if !strings.HasPrefix(link, s.URL+"/verify-forwarding/") {
		t.Fatalf("the message has the link %q", link)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
		if rule.VerificationState != vocab.VerificationPending {
			t.Errorf("before a %s request to the link the rule is %s", method, rule.VerificationState)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, link, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.HTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s of the link: %s", method, resp.Status)
		}
	}
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	if !rule.Active || rule.VerificationState != vocab.VerificationVerified {
		t.Errorf("the rule is %+v", rule)
	}
	line := s.Log.Wait(t, "verification message sent")
	if line["forwarding_id"] != rule.ID || line["attempts"] != 1.0 || line["request_id"] == "" {
		t.Errorf("log line: %v", line)
	}
	log := s.Log.String()
	for _, secret := range []string{link[strings.LastIndex(link, "/")+1:], "p@ss", "p%40ss"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log contains %s:\n%s", secret, log)
		}
	}
}

func TestRejectedMailIsLogged(t *testing.T) {
	t.Parallel()
	refusing := smtptest.NewServer(t, smtptest.Options{Replies: map[string][]string{"RCPT": {"550 5.1.1 No such user"}}})
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, "--smtp-url", "smtp://"+refusing.Addr, "--smtp-from", "no-reply@mail.example")
	c := s.As(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"nobody@example.org"}`).Want(http.StatusCreated).Into(&rule)
	line := s.Log.Wait(t, "verification message not sent; set the rule's target_email again to send a new one")
	if line["forwarding_id"] != rule.ID || line["attempts"] != 1.0 || !strings.Contains(line["error"].(string), "No such user") {
		t.Errorf("log line: %v", line)
	}
	// A PATCH with the same address sends a new link.
	c.Do(http.MethodPatch, "/forwarding/"+rule.ID, `{"target_email":"nobody@example.org"}`).Want(http.StatusOK)
	(&mailhostdtest.Inbox{Server: refusing}).Link(t, "nobody@example.org")
}

func TestSMTPFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, from, want string }{
		{"smtp://user:s3cret@mail.example.com", "", "--smtp-from: is required with --smtp-url"},
		{"", "no-reply@example.com", "--smtp-from: needs --smtp-url"},
		{"smtp://user:s3cret@mail.example.com", "Mailhost", "--smtp-from: must be an address"},
		{"smtp://user:s3cret@mail.example.com:x", "no-reply@example.com", "--smtp-url: must be smtp://"},
		{"http://user:s3cret@mail.example.com", "no-reply@example.com", "--smtp-url: must be smtp://"},
		{"smtp://user:s3cret@mail.example.com?tls=none", "no-reply@example.com", "--smtp-url: with tls=none"},
	} {
		code, stdout, stderr := mailhostdtest.RunWith(t, []string{"MAILHOSTD_SMTP_URL=" + tt.url, "MAILHOSTD_SMTP_FROM=" + tt.from}, "serve")
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "s3cret") {
			t.Errorf("%+v: exit code %d, stdout %q, stderr %q", tt, code, stdout, stderr)
		}
	}
}
