package main

import (
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	netmail "net/mail"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer/smtptest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// mailInbox is a mail server that keeps the messages that it received.
type mailInbox struct{ *smtptest.Server }

func newMailbag(t *testing.T) *mailInbox {
	t.Helper()
	return &mailInbox{smtptest.NewServer(t, smtptest.Options{User: "mailhostd", Password: "p@ss"})}
}

// flags returns the flags for sending messages through this server.
func (m *mailInbox) flags() []string {
	return []string{"--smtp-url", "smtp://mailhostd:p%40ss@" + m.Addr, "--smtp-from", "Mailhost <no-reply@mail.example>"}
}

var linkInText = regexp.MustCompile(`(?m)^http://\S+/verify-forwarding/\S+$`)

// link waits for a message to an address and returns its link.
func (m *mailInbox) link(t *testing.T, to string) string {
	t.Helper()
	isTo := func(mail smtptest.Mail) bool { return slices.Contains(mail.To, to) }
	for n := 1; ; n++ {
		mails := m.Wait(n)
		slices.Reverse(mails)
		if i := slices.IndexFunc(mails, isTo); i >= 0 {
			return linkInText.FindString(plainText(t, mails[i].Data))
		}
	}
}

// plainText returns the first part of a message.
func plainText(t *testing.T, data string) string {
	t.Helper()
	mail, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(mail.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(mail.Body, params["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestForwardingIsVerifiedByMail(t *testing.T) {
	t.Parallel()
	m := newMailbag(t)
	database, owner := initialize(t)
	s := serve(t, database, m.flags()...)
	if line := s.log.Wait(t, "sending messages"); line["server"] != "smtp://"+m.Addr || line["from"] != "no-reply@mail.example" {
		t.Errorf("log line: %v", line)
	}
	c := s.as(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"Jane@Example.ORG"}`).Want(http.StatusCreated).Into(&rule)
	link := m.link(t, "jane@example.org")
	if !strings.HasPrefix(link, s.url+"/verify-forwarding/") {
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
	line := s.log.Wait(t, "verification message sent")
	if line["forwarding_id"] != rule.ID || line["attempts"] != 1.0 || line["request_id"] == "" {
		t.Errorf("log line: %v", line)
	}
	log := s.log.String()
	for _, secret := range []string{link[strings.LastIndex(link, "/")+1:], "p@ss", "p%40ss"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log contains %s:\n%s", secret, log)
		}
	}
}

func TestRejectedMailIsLogged(t *testing.T) {
	t.Parallel()
	refusing := smtptest.NewServer(t, smtptest.Options{Replies: map[string][]string{"RCPT": {"550 5.1.1 No such user"}}})
	database, owner := initialize(t)
	s := serve(t, database, "--smtp-url", "smtp://"+refusing.Addr, "--smtp-from", "no-reply@mail.example")
	c := s.as(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"nobody@example.org"}`).Want(http.StatusCreated).Into(&rule)
	line := s.log.Wait(t, "verification message not sent; set the rule's target_email again to send a new one")
	if line["forwarding_id"] != rule.ID || line["attempts"] != 1.0 || !strings.Contains(line["error"].(string), "No such user") {
		t.Errorf("log line: %v", line)
	}
	// A PATCH with the same address sends a new link.
	c.Do(http.MethodPatch, "/forwarding/"+rule.ID, `{"target_email":"nobody@example.org"}`).Want(http.StatusOK)
	(&mailInbox{refusing}).link(t, "nobody@example.org")
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
		code, stdout, stderr := runWith(t, []string{"MAILHOSTD_SMTP_URL=" + tt.url, "MAILHOSTD_SMTP_FROM=" + tt.from}, "serve")
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "s3cret") {
			t.Errorf("%+v: exit code %d, stdout %q, stderr %q", tt, code, stdout, stderr)
		}
	}
}
