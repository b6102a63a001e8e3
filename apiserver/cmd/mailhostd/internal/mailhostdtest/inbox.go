package mailhostdtest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer/smtptest"
)

// Inbox is a mail server that keeps the messages that it received.
type Inbox struct{ *smtptest.Server }

// NewInbox starts an Inbox.
func NewInbox(t *testing.T) *Inbox {
	t.Helper()
	return &Inbox{Server: smtptest.NewServer(t, smtptest.Options{User: "mailhostd", Password: "p@ss"})}
}

// Flags returns the flags for sending messages through this server.
func (m *Inbox) Flags() []string {
	return []string{"--smtp-url", "smtp://mailhostd:p%40ss@" + m.Addr, "--smtp-from", "Mailhost <no-reply@mail.example>"}
}

var linkInText = regexp.MustCompile(`(?m)^http://\S+/verify-forwarding/\S+`)

// Link waits for a message to an address and returns its link.
func (m *Inbox) Link(t *testing.T, to string) string {
	t.Helper()
	isTo := func(mail smtptest.Mail) bool { return slices.Contains(mail.To, to) }
	for n := 1; ; n++ {
		mails := m.Wait(n)
		slices.Reverse(mails)
		if i := slices.IndexFunc(mails, isTo); i >= 0 {
			// The link is alone on its line, which the encoding may have broken.
			return linkInText.FindString(strings.ReplaceAll(mails[i].Data, "=\r\n", ""))
		}
	}
}

// NewRule creates a forwarding rule and returns it with the link of its message.
func NewRule(t *testing.T, c *apitest.Client, m *Inbox, target string) (rule api.Forwarding, link string) {
	t.Helper()
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"`+target+`"}`).Want(http.StatusCreated).Into(&rule)
	return rule, m.Link(t, target)
}
