package mailer_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer/smtptest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// TestServiceRetries checks that a message is retried, each time with a new link, until a
// greylisting mail server accepts it, and is delivered once.
func TestServiceRetries(t *testing.T) {
	const account = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
	// The server runs outside the synctest bubble, because its network waits would block
	// the fake clock.
	s := smtptest.NewServer(t, smtptest.Options{Replies: map[string][]string{
		"RCPT": {"451 4.7.1 Greylisted", "451 4.7.1 Greylisted"}, ".": {"452 4.3.1 Disk full"},
	}})
	var messages []apiserver.Message
	synctest.Test(t, func(t *testing.T) {
		sender, err := mailer.New(mailer.Options{URL: "smtp://" + s.Addr, From: "no-reply@mail.example"})
		if err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		service, err := apiserver.New(apiserver.Options{Store: db, Sender: sender})
		if err != nil {
			t.Fatal(err)
		}
		defer service.Close()
		if _, err := service.EnsureAccount(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		path := "http://mailhost.test" + strings.Replace(api.Prefix, "{account_id}", account, 1) + "/forwarding"
		resp, err := service.OwnerClient(account).Post(path, "application/json", strings.NewReader(`{"target_email":"jane@example.org"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			t.Fatalf("the rule: %s", resp.Status)
		}
		time.Sleep(7 * time.Minute) // three retry delays
		messages = service.Outbox()
	})
	mails := s.Mails()
	if len(mails) != 1 || strings.Count(strings.Join(s.Commands(), "\n"), "MAIL FROM") != 4 {
		t.Fatalf("%d messages after %q", len(mails), s.Commands())
	}
	header, parts := read(t, mails[0].Data)
	if len(messages) != 4 || header.Get("Message-Id") != "<"+messages[3].ID+"@mail.example>" || parts["text/plain; charset=UTF-8"] != messages[3].Text {
		t.Errorf("sent %v %q; want %+v", header, parts, messages)
	}
}
