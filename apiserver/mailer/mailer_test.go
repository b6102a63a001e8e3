package mailer_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer/smtptest"
)

var message = email.Message{
	ID: "0b9f4d5e.1234", To: "jane@xn--bcher-kva.example", Subject: "Confirm – please", SentAt: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC),
	Text: "Open https://mail.example/verify-forwarding/" + strings.Repeat("x", 43) + "\n.\nand confirm.\n", HTML: "<p>Öffnen</p>\n",
}

// send sends a message through a server. HOST in the URL is replaced with the server's
// address.
func send(t *testing.T, s *smtptest.Server, url string, m email.Message) error {
	t.Helper()
	sender, err := mailer.New(mailer.Options{
		URL: strings.Replace(url, "HOST", s.Addr, 1), From: `"Maïl, Host" <No-Reply@Mail.Example>`, RootCAs: s.RootCAs,
	})
	assert.NilError(t, err)
	return sender.Send(t.Context(), m)
}

// read parses a message like a mail client, and returns its header and the decoded parts by media
// type.
func read(t *testing.T, data string) (header netmail.Header, parts map[string]string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(data))
	assert.Assert(t, err == nil, "%v in\n%s", err, data)
	mediaType, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	assert.Assert(t, err == nil && mediaType == "multipart/alternative", "the message is %s, %v", mediaType, err)
	parts = map[string]string{}
	for reader := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m.Header, parts
		}
		assert.NilError(t, err)
		assert.Check(t, is.Equal(part.Header.Get("Content-Transfer-Encoding"), "quoted-printable"), "the encoding")
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		assert.NilError(t, err)
		parts[part.Header.Get("Content-Type")] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	s := smtptest.NewServer(t, smtptest.Options{})
	assert.NilError(t, send(t, s, "smtp://HOST", message))
	got := s.Wait(1)[0]
	assert.Check(t, got.From == "no-reply@mail.example" && slices.Equal(got.To, []string{message.To}) && !got.Encrypted && got.User == "", "the envelope is %+v", got)
	assert.Check(t, !slices.ContainsFunc(s.Commands(), func(c string) bool { return strings.Contains(c, "SMTPUTF8") }), "the next server may not support SMTPUTF8: %q", s.Commands())
	header, parts := read(t, got.Data)
	for name, want := range map[string]string{
		"From": "Maïl, Host <no-reply@mail.example>", "To": "<jane@xn--bcher-kva.example>", "Subject": message.Subject,
		"Date": "Sat, 14 Mar 2026 15:09:26 +0000", "Message-Id": "<0b9f4d5e.1234@mail.example>",
		"Auto-Submitted": "auto-generated", "Mime-Version": "1.0", "User-Agent": "", "X-Mailer": "",
	} {
		decoded, err := new(mime.WordDecoder).DecodeHeader(header.Get(name))
		if name == "From" {
			decoded = strings.ReplaceAll(decoded, `"`, "")
		}
		assert.Check(t, err == nil && decoded == want && len(header[name]) <= 1, "%s is %q, %v; want %q", name, header[name], err, want)
	}
	assert.Check(t, parts["text/plain; charset=UTF-8"] == message.Text && parts["text/html; charset=UTF-8"] == message.HTML && len(parts) == 2, "the parts are %q", parts)
}

func TestHeaderInjection(t *testing.T) {
	t.Parallel()
	s := smtptest.NewServer(t, smtptest.Options{})
	const injected = "\r\nBcc: evil@example.com\r\n\r\nBuy now"
	for _, to := range []string{
		message.To + injected, "evil@example.com, " + message.To, "jane@example.com>\r\nRCPT TO:<evil@example.com", "Jane <jane@example.com>", "jösé@example.com", "",
	} {
		bad := message
		bad.To = to
		assert.Check(t, is.ErrorIs(send(t, s, "smtp://HOST", bad), email.ErrUndeliverable), "to %q", to)
	}
	bad := message
	bad.Subject, bad.ID = "Hello"+injected, "id"+injected
	assert.NilError(t, send(t, s, "smtp://HOST", bad))
	header, parts := read(t, s.Wait(1)[0].Data)
	assert.Check(t, header.Get("Bcc") == "" && len(parts) == 2 && parts["text/plain; charset=UTF-8"] == message.Text, "header %v, parts %q", header, parts)
	assert.Check(t, is.Equal(len(s.Mails()), 1), "messages were sent")
}

func TestEncryption(t *testing.T) {
	t.Parallel()
	plain, starttls, implicit := smtptest.Options{}, smtptest.Options{STARTTLS: true}, smtptest.Options{ImplicitTLS: true}
	for _, tt := range []struct {
		url       string
		server    smtptest.Options
		encrypted bool
		fails     string
	}{
		{"smtp://HOST", plain, false, ""}, // plain text is allowed on the loopback
		{"smtp://HOST", starttls, true, ""},
		{"smtp://HOST?tls=none", starttls, false, ""},
		{"smtp://HOST?tls=starttls", starttls, true, ""},
		{"smtp://HOST?tls=starttls", plain, false, "does not support STARTTLS"},
		{"smtps://HOST", implicit, true, ""},
		{"smtps://HOST", plain, false, "tls: "},
	} {
		t.Run(tt.url, func(t *testing.T) {
			t.Parallel()
			s := smtptest.NewServer(t, tt.server)
			err := send(t, s, tt.url, message)
			if tt.fails != "" {
				assert.Check(t, err != nil && strings.Contains(err.Error(), tt.fails) && len(s.Mails()) == 0, "%v; want %q", err, tt.fails)
				return
			}
			assert.Check(t, err == nil && s.Wait(1)[0].Encrypted == tt.encrypted, "%v, %+v", err, s.Mails())
		})
	}
}

func TestUnknownCertificate(t *testing.T) {
	t.Parallel()
	s := smtptest.NewServer(t, smtptest.Options{STARTTLS: true})
	sender, err := mailer.New(mailer.Options{URL: "smtp://" + s.Addr, From: "a@example.com"}) // trusts the system's certificate authorities only
	assert.NilError(t, err)
	err = sender.Send(t.Context(), message)
	assert.Check(t, err != nil && !errors.Is(err, email.ErrUndeliverable) && strings.Contains(err.Error(), "certificate"), "%v", err)
	got := s.Commands()
	assert.Check(t, len(got) == 2, "with a certificate of an unknown authority the client sent %q", got)
}

func TestLogin(t *testing.T) {
	t.Parallel()
	for _, o := range []smtptest.Options{
		{STARTTLS: true, User: "mail@host", Password: "p@ss:w/rd"}, {User: "mail@host", Password: "p@ss:w/rd"},
	} {
		s := smtptest.NewServer(t, o)
		assert.NilError(t, send(t, s, "smtp://mail%40host:p%40ss%3Aw%2Frd@HOST", message))
		got := s.Wait(1)[0]
		assert.Check(t, got.User == "mail@host" && got.Encrypted == o.STARTTLS, "sent as %+v", got)
		err := send(t, s, "smtp://mail%40host:wr%40ng@HOST", message)
		assert.Check(t, err != nil && !errors.Is(err, email.ErrUndeliverable) && !strings.Contains(err.Error(), "wr@ng") && strings.Contains(err.Error(), "535"), "a wrong password: %v", err)
		err = send(t, s, "smtp://HOST", message)
		assert.Check(t, err != nil && !errors.Is(err, email.ErrUndeliverable) && strings.Contains(err.Error(), "530"), "no password: %v", err)
	}
}

// TestServerQuotesThePassword checks that an error never contains the password, even if
// the server quotes it.
func TestServerQuotesThePassword(t *testing.T) {
	t.Parallel()
	const user, password = "mail@host", "s3cret-s3cret"
	plain := "\x00" + user + "\x00" + password
	forms := []string{
		password, plain, hex.EncodeToString([]byte(password)), fmt.Sprintf("%q", plain), base64.StdEncoding.EncodeToString([]byte(password)),
		base64.StdEncoding.EncodeToString([]byte(plain)), base64.RawURLEncoding.EncodeToString([]byte(plain)),
	}
	for _, tt := range []struct {
		command   string
		replies   []string
		forms     []string
		permanent bool
	}{
		{"AUTH", []string{"535 5.7.8 Not you: AUTH PLAIN %s", "501 5.5.2 What is %s?", "421 4.3.2 Bye, %s", "535-5.7.8 Not\r\n535 you: %s", "%s", "999999 %s"}, forms, false},
		{"MAIL", []string{"554 5.7.1 Not for %s"}, []string{forms[0], forms[4], forms[5]}, false},
		{"RCPT", []string{"451 4.7.1 Not for %s"}, []string{forms[0], forms[4], forms[5]}, false},
	} {
		for _, reply := range tt.replies {
			for _, form := range tt.forms {
				quote := fmt.Sprintf(reply, form)
				s := smtptest.NewServer(t, smtptest.Options{User: user, Password: password, Replies: map[string][]string{tt.command: {quote}}})
				err := send(t, s, "smtp://mail%40host:"+password+"@HOST", message)
				assert.Check(t, err != nil && errors.Is(err, email.ErrUndeliverable) == tt.permanent, "%q: %v; want an error that is permanent: %t", quote, err, tt.permanent)
				if err != nil && (strings.Contains(err.Error(), form) || strings.Contains(err.Error(), password)) {
					t.Errorf("%q: the password is in the error: %v", quote, err)
				}
			}
		}
	}
}

// TestFailures checks for each stage of a delivery whether a failure concerns the message, which is then
// given up, or the server and its settings, which the error then names.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command, reply string
		permanent      bool
		advice         string
	}{
		{"CONNECT", "421 4.3.2 Too busy", false, ""},
		{"CONNECT", "554 5.3.2 No mail here", false, "--smtp-url"},
		{"CONNECT", "521 5.7.1 Your address is blocked", false, "--smtp-url"},
		{"CONNECT", "", false, ""},
		{"EHLO", "421 4.3.2 Too busy", false, ""},
		{"EHLO", "504 5.5.2 Need a fully qualified name", false, "--smtp-helo"},
		{"EHLO", "550 5.7.1 Not you", false, "--smtp-helo"},
		{"EHLO", "", false, ""},
		{"STARTTLS", "454 4.7.0 Not now", false, ""},
		{"STARTTLS", "554 5.7.3 No", false, "--smtp-url"},
		{"AUTH", "454 4.7.0 Not now", false, "the user and the password"},
		{"AUTH", "535 5.7.8 Wrong", false, "the user and the password"},
		{"AUTH", "534 5.7.9 Too weak", false, "the user and the password"},
		{"AUTH", "550 5.7.1 Blocked", false, "the user and the password"},
		{"MAIL", "451 4.3.0 Try again", false, ""},
		{"MAIL", "550 5.7.1 Not from there", false, "--smtp-from"},
		{"MAIL", "553 5.7.1 Not your address", false, "--smtp-from"},
		{"MAIL", "550 5.1.8 No such domain", false, "--smtp-from"},
		{"MAIL", "554 5.7.1 Client host rejected: Access denied", false, "--smtp-url"},
		{"MAIL", "504 5.5.2 Helo command rejected: need a fully qualified name", false, "--smtp-helo"},
		{"MAIL", "530 5.7.0 Log in first", false, "the user and the password"},
		{"MAIL", "538 5.7.11 Encrypt first", false, "the user and the password"},
		{"MAIL", "", false, ""},
		{"RCPT", "451 4.7.1 Greylisted", false, ""},
		{"RCPT", "550 5.1.1 No such user", true, ""},
		{"RCPT", "550 No such user", true, ""},
		{"RCPT", "550 5.5.0 Requested action not taken: mailbox unavailable", true, ""},
		{"RCPT", "550 5.5.1 Recipient rejected", true, ""},
		{"RCPT", "550 5.4.1 Recipient address rejected: Access denied", true, ""},
		{"RCPT", "552 5.2.2 Mailbox full", true, ""},
		{"RCPT", "554 5.7.1 Refused", false, "--smtp-url"},
		{"RCPT", "554 5.7.1 Client host rejected: Access denied", false, "--smtp-url"},
		{"RCPT", "554 5.7.1 Relay access denied", false, "--smtp-url"},
		{"RCPT", "550 5.7.1 Helo command rejected: Access denied", false, "--smtp-helo"},
		{"RCPT", "553 5.7.1 Sender address rejected: not logged in", false, "--smtp-from"},
		{"RCPT", "550 5.7.1 Invalid credentials for relay", false, "--smtp-url"},
		{"RCPT", "550 relay not permitted", false, "--smtp-url"},
		{"RCPT", "503 Authentication required", false, "--smtp-url"},
		{"RCPT", "501 5.1.3 Bad recipient", true, ""},
		{"RCPT", "530 5.7.0 Log in first", false, "the user and the password"},
		{"RCPT", "504 5.5.2 Helo command rejected: need a fully qualified name", false, "--smtp-helo"},
		{"RCPT", "501 5.5.2 Helo command rejected: invalid name", false, "--smtp-helo"},
		{"RCPT", "550 5.1.8 Sender address rejected: no such domain", false, "--smtp-from"},
		{"DATA", "451 4.3.0 Try again", false, ""},
		{"DATA", "554 5.5.1 Error: no valid recipients", true, ""},
		{"DATA", "503 5.5.1 No valid recipients", true, ""},
		{"DATA", "554 No valid recipients", true, ""},
		{"DATA", "554 5.7.1 Client host rejected: Access denied", false, "--smtp-url"},
		{"DATA", "530 5.7.0 Log in first", false, "the user and the password"},
		{"DATA", "", false, ""},
		{".", "451 4.3.0 Try again", false, ""},
		{".", "552 5.3.4 Too big", true, ""},
		{".", "554 5.7.1 Spam", true, ""},
		{".", "550 5.7.26 Unauthenticated mail is refused", true, ""},
		{".", "550 5.7.60 Client does not have permissions to send as this sender", false, "--smtp-from"},
		{".", "554 5.2.252 SendAsDenied", false, "--smtp-from"},
		{".", "554 5.5.0 Refused", true, ""},
		{".", "550 This relay refuses the text", true, ""},
		{".", "", false, ""},
	} {
		run := func(t *testing.T, unannounced bool) {
			t.Parallel()
			o, url := smtptest.Options{Replies: map[string][]string{tt.command: {tt.reply}}, Unannounced: unannounced}, "smtp://HOST"
			switch tt.command {
			case "EHLO":
				o.Replies["HELO"] = []string{tt.reply}
			case "STARTTLS":
				o.STARTTLS = true
			case "AUTH":
				o.User, o.Password, url = "user", "s3cret-s3cret", "smtp://user:s3cret-s3cret@HOST"
			}
			s := smtptest.NewServer(t, o)
			err := send(t, s, url, message)
			assert.Assert(t, err != nil && errors.Is(err, email.ErrUndeliverable) == tt.permanent, "%v; want an error that is permanent: %t", err, tt.permanent)
			s.WaitIdle() // the client closes the connection even after an error
			code, text, _ := strings.Cut(tt.reply, " ")
			if tt.command == "AUTH" {
				text = "" // it may contain the password
			}
			for _, want := range []string{s.Addr, code, text, tt.advice} {
				assert.Check(t, strings.Contains(err.Error(), want), "%v lacks %q", err, want)
			}
			if tt.advice == "" {
				assert.Check(t, !strings.Contains(err.Error(), "check") && !strings.Contains(err.Error(), "--smtp"), "no setting is wrong: %v", err)
			}
			assert.Check(t, !strings.Contains(err.Error(), "jane@"), "%v contains the recipient", err)
			err = send(t, s, url, message)
			assert.Check(t, err == nil && len(s.Wait(1)) == 1, "next message: %v, %+v", err, s.Mails())
		}
		t.Run(tt.command+" "+tt.reply, func(t *testing.T) { run(t, false) })
		t.Run(tt.command+" "+tt.reply+", unannounced", func(t *testing.T) { run(t, true) })
	}
	t.Run("QUIT", func(t *testing.T) {
		t.Parallel()
		s := smtptest.NewServer(t, smtptest.Options{Replies: map[string][]string{"QUIT": {"421 4.3.0 Oops"}}})
		assert.Check(t, send(t, s, "smtp://HOST", message), "Send returned an error for an accepted message")
	})
	t.Run("connection refused", func(t *testing.T) {
		t.Parallel()
		s := smtptest.NewServer(t, smtptest.Options{})
		s.Close()
		err := send(t, s, "smtp://HOST", message)
		assert.Check(t, err != nil && !errors.Is(err, email.ErrUndeliverable), "%v", err)
	})
}

// TestShortPassword checks that a short password is replaced as a word, and that words which contain it
// stay as they are.
func TestShortPassword(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ password, reply, want string }{
		{"e", "550 5.1.1 Here e ends the sentence: e.", "550 5.1.1 Here [redacted] ends the sentence: [redacted]."},
		{"5", "550 5.1.1 No 55, 5", "550 [redacted].1.1 No 55, [redacted]"},
		{"abc", "550 5.1.1 abcd YWJj \u00e9abc abc", "550 5.1.1 abcd [redacted] \u00e9abc [redacted]"},
		{`a"b\c`, `550 5.1.1 Not a"b\c.`, "550 5.1.1 Not [redacted]."},
		{"s3cret-s3cret", "550 5.1.1 user=xs3cret-s3cretx", "550 5.1.1 user=x[redacted]x"},
	} {
		s := smtptest.NewServer(t, smtptest.Options{User: "user", Password: tt.password, Replies: map[string][]string{"RCPT": {tt.reply}}})
		err := send(t, s, "smtp://user:"+url.PathEscape(tt.password)+"@HOST", message)
		assert.Assert(t, err != nil)
		assert.Check(t, is.Contains(strings.ReplaceAll(err.Error(), `"`, ""), "sending SMTP RCPT TO command: "+tt.want))
	}
}

// TestHELO checks the name in EHLO: the option, or the literal of the connection's own address.
func TestHELO(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ helo, want, fails string }{
		{"", "[127.0.0.1]", ""},
		{"Mail.Example.com.", "mail.example.com", ""},
		{"b\u00fccher.example", "xn--bcher-kva.example", ""},
		{"[192.0.2.1]", "[192.0.2.1]", ""},
		{"[ipv6:2001:DB8::1]", "[IPv6:2001:db8::1]", ""},
		{"localhost", "", "two labels"},
		{"192.0.2.1", "", "write the address as [192.0.2.1]"},
		{"2001:db8::1", "", "write the address as [IPv6:2001:db8::1]"},
		{"[2001:db8::1]", "", "write the address as [IPv6:2001:db8::1]"},
		{"[fe80::1%eth0]", "", "write the address as [IPv6:fe80::1]"},
		{"[::ffff:192.0.2.1]", "", "write the address as [192.0.2.1]"},
		{"[mail.example.com]", "", "a name without brackets"},
		{"my_host.example.com", "", "letters, digits and hyphens"},
		{"https://mail.example.com", "", "must not be a URL"},
		{"mail.example.com\r\nMAIL FROM:<>", "", "must not be a URL"},
		{"mail example.com", "", "letters, digits and hyphens"},
	} {
		s := smtptest.NewServer(t, smtptest.Options{})
		m, err := mailer.New(mailer.Options{URL: "smtp://" + s.Addr, From: "a@example.com", HELO: tt.helo})
		if tt.fails != "" {
			assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "helo: ") && strings.Contains(err.Error(), tt.fails), "%q: %v; want %q", tt.helo, err, tt.fails)
			continue
		}
		assert.NilError(t, err)
		assert.NilError(t, m.Check(t.Context()))
		assert.Check(t, is.Equal(s.Commands()[0], "EHLO "+tt.want), "%q", tt.helo)
	}
}

// TestSilentServer checks that Send waits for a silent server only until its context
// ends.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer l.Close()
	sender, err := mailer.New(mailer.Options{URL: "smtp://" + l.Addr().String(), From: "a@example.com"})
	assert.NilError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- sender.Send(ctx, message) }()
	conn, err := l.Accept()
	assert.NilError(t, err)
	defer conn.Close()
	cancel()
	select {
	case err := <-ended:
		assert.Check(t, err != nil && !errors.Is(err, email.ErrUndeliverable), "%v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("a cancelled context does not end Send")
	}
	n, err := conn.Read(make([]byte, 1))
	assert.Check(t, n == 0 && errors.Is(err, io.EOF), "the connection is still open: %d, %v", n, err)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	const from = "Mailhost <no-reply@example.com>"
	for _, tt := range []struct{ url, from, server, fails string }{
		{"smtp://mail.example.com", from, "smtp://mail.example.com:587", ""},
		{"smtps://user:s3cret@mail.example.com/", "no-reply@example.com", "smtps://mail.example.com:465", ""},
		{"smtp://user:s3cret@[::1]:2525?tls=none", from, "smtp://[::1]:2525", ""},
		{"smtp://user:s3cret@localhost?tls=none", from, "smtp://localhost:587", ""},
		{"smtp://user:s3cret@mail.example.com?tls=none", from, "", "plain text"},
		{"smtp://user@mail.example.com", from, "", "needs a password"},
		{"smtp://:s3cret@mail.example.com", from, "", "a password a user"},
		{"smtp://user:s3cret@mail.example.com?tls=maybe", from, "", "the only option"},
		{"smtp://user:s3cret@mail.example.com?tls=none&tls=starttls", from, "", "the only option"},
		{"smtp://user:s3cret@mail.example.com?secure=1", from, "", "the only option"},
		{"smtp://user:s3cret%@mail.example.com", from, "", "must be smtp://"},
		{"smtp://user:s3cret@mail.example.com:0", from, "", "the port"},
		{"smtp://user:s3cret@mail.example.com/inbox", from, "", "must be smtp://"},
		{"https://user:s3cret@mail.example.com", from, "", "must be smtp://"},
		{"", from, "", "must be smtp://"},
		{"smtp://mail.example.com", "", "", "must be an address"},
		{"smtp://mail.example.com", "x\r\nBcc: a@example.com", "", "must be an address"},
		{"smtp://mail.example.com", "root@localhost", "", "domain"},
	} {
		m, err := mailer.New(mailer.Options{URL: tt.url, From: tt.from})
		switch {
		case tt.fails == "" && err != nil:
			t.Errorf("%s: %v", tt.url, err)
		case tt.fails == "":
			assert.Check(t, m.Server() == tt.server && m.From() == "no-reply@example.com", "%s: %s, %s", tt.url, m.Server(), m.From())
		case err == nil || !strings.Contains(err.Error(), tt.fails) || strings.HasPrefix(err.Error(), "from: ") != (tt.from != from) || strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s from %s: %v; want %q", tt.url, tt.from, err, tt.fails)
		}
	}
}
