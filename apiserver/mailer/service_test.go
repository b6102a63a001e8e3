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

// A greylisting mail server gets the message again until it accepts it, each time
// with a new link, and nobody gets it twice.
func TestServiceSendsAgain(t *testing.T) {
	const account = "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
	// The server is outside the bubble: what it waits for does not stop the time.
	s := smtptest.NewServer(t, smtptest.Options{Replies: map[string][]string{
		"RCPT": {"451 4.7.1 Greylisted", "451 4.7.1 Greylisted"}, ".": {"452 4.3.1 Disk full"},
	}})
	var letters []apiserver.Message
	synctest.Test(t, func(t *testing.T) {
		sender, err := mailer.New(mailer.Options{URL: "smtp://" + s.Addr, From: "no-reply@mail.example"})
		if err != nil {
			t.Fatal(err)
		}
		db, err := sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		service, err := apiserver.New(apiserver.Options{Store: db, Courier: sender})
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
		time.Sleep(7 * time.Minute) // of the bubble: three pauses
		letters = service.Outbox()
	})
	mails := s.Mails()
	if len(mails) != 1 || strings.Count(strings.Join(s.Commands(), "\n"), "MAIL FROM") != 4 {
		t.Fatalf("%d messages after %q", len(mails), s.Commands())
	}
	header, parts := read(t, mails[0].Data)
	if len(letters) != 4 || header.Get("Message-Id") != "<"+letters[3].ID+"@mail.example>" || parts["text/plain; charset=UTF-8"] != letters[3].Text {
		t.Errorf("sent %v %q; want %+v", header, parts, letters)
	}
}
