// Package mailer sends the service's messages over SMTP. A Mailer is the email.Sender of the
// standalone server.
//
// The library go-mail encodes messages (RFC 5322, MIME) and speaks the protocol (RFC 5321). This
// package decides about encryption, permanent errors, valid addresses and the name for EHLO.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package mailer

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// Options configure a Mailer. URL and From are required.
type Options struct {
	// URL is the mail server: smtp://[user:password@]host[:port] with the default port 587, or
	// smtps://… with the default port 465.
	//
	// smtp:// requires STARTTLS (RFC 3207), except for a server on this machine, where it is
	// optional. ?tls=starttls requires it there too. ?tls=none disables encryption; a password is
	// then allowed only for a server on this machine. smtps:// uses TLS from the first byte.
	URL string
	// From is the sender: an address, or a name and an address as in
	// "Mailhost <no-reply@example.com>".
	From string
	// HELO is the name of this machine for the mail server: a domain name such as mail.example.com,
	// or an address literal such as [192.0.2.1]. Empty means the literal of the connection's own
	// address, which RFC 5321, section 4.1.4, prescribes for a machine without a name.
	HELO string
	// RootCAs verify the server's certificate; nil means the system's.
	RootCAs *x509.CertPool
}

// timeout limits each wait for the server.
const timeout = 15 * time.Second

// Mailer is an email.Sender that sends over SMTP, each message on a new
// connection. It is safe for concurrent use.
type Mailer struct {
	server  server
	from    *netmail.Address
	domain  string // the sender's domain, for Message-IDs
	helo    string
	rootCAs *x509.CertPool
}

var _ email.Sender = (*Mailer)(nil)

// New returns a Mailer without connecting. An error begins with the invalid option, "url: ",
// "from: " or "helo: ", and never contains the password.
func New(o Options) (*Mailer, error) {
	server, err := parseServer(o.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	from, err := netmail.ParseAddress(o.From)
	if err != nil {
		return nil, errors.New("from: must be an address, or a name and an address as in \"Mailhost <no-reply@example.com>\"")
	}
	address, err := emailaddr.Parse(from.Address)
	if err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	from.Address = address.String()
	helo := o.HELO
	if helo != "" {
		if helo, err = parseHELO(helo); err != nil {
			return nil, fmt.Errorf("helo: %w", err)
		}
	}
	return &Mailer{server: server, from: from, domain: address.Domain, helo: helo, rootCAs: o.RootCAs}, nil
}

// Server returns the mail server's URL without user and password.
func (m *Mailer) Server() string { return m.server.String() }

// From returns the sender's address.
func (m *Mailer) From() string { return m.from.Address }

// Send delivers a message to the mail server. It implements email.Sender.
func (m *Mailer) Send(ctx context.Context, message email.Message) error {
	msg, err := m.encode(message)
	if err != nil {
		return fmt.Errorf("%w: %w", email.ErrUndeliverable, err)
	}
	if err = m.submit(ctx, msg); err == nil || msg.IsDelivered() {
		return nil
	}
	if concernsMessage(err) {
		return fmt.Errorf("%w: %s: %s", email.ErrUndeliverable, m.server, m.describe(err))
	}
	return fmt.Errorf("%s: %s", m.server, m.describe(err))
}

// Check connects to the mail server with TLS and the password, but sends no message.
func (m *Mailer) Check(ctx context.Context) error {
	if err := m.submit(ctx, nil); err != nil {
		return fmt.Errorf("%s: %s", m.server, m.describe(err))
	}
	return nil
}

// encode converts a message to RFC 5322. Every header value is parsed or encoded, so that a line
// break can't start another header.
func (m *Mailer) encode(message email.Message) (*mail.Msg, error) {
	// The canonical form of an address is ASCII, so that no server needs SMTPUTF8 (RFC 6531).
	// Invalid addresses are rejected.
	to, err := emailaddr.Parse(message.To)
	if err != nil {
		return nil, fmt.Errorf("the recipient: %w", err)
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(m.from)
	msg.ToMailAddress(&netmail.Address{Address: to.String()})
	msg.Subject(message.Subject)
	msg.SetDateWithValue(message.SentAt)
	msg.SetMessageIDWithValue(message.ID + "@" + m.domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834, section 5
	msg.SetBodyString(mail.TypeTextPlain, message.Text)
	if message.HTML != "" {
		msg.AddAlternativeString(mail.TypeTextHTML, message.HTML)
	}
	return msg, nil
}

// submit sends a message on a new connection; a nil message only connects. It closes the connection
// itself, because go-mail closes it only after a success and observes ctx only while it connects.
func (m *Mailer) submit(ctx context.Context, msg *mail.Msg) error {
	tcp, err := (&net.Dialer{Timeout: timeout}).DialContext(ctx, "tcp", m.server.address())
	if err != nil {
		return err
	}
	defer tcp.Close()
	defer context.AfterFunc(ctx, func() { _ = tcp.Close() })()
	conn := tcp
	if m.server.scheme == "smtps" {
		conn = tls.Client(tcp, m.tlsConfig())
	}
	client, err := mail.NewClient(m.server.host, m.clientOptions(conn)...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if msg != nil {
		if err := client.SendWithSMTPClient(session, msg); err != nil {
			return err
		}
	}
	_ = client.CloseWithSMTPClient(session) // the server accepted the message, so an error of QUIT does not matter
	return nil
}

func (m *Mailer) clientOptions(conn net.Conn) []mail.Option {
	options := []mail.Option{
		mail.WithTimeout(timeout), mail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return conn, nil }),
		mail.WithHELO(cmp.Or(m.helo, localLiteral(conn))), mail.WithTLSPolicy(m.server.starttls), mail.WithTLSConfig(m.tlsConfig()),
		// Each connection is new, sends one message and uses ASCII addresses.
		mail.WithoutNoop(), mail.WithoutRset(), mail.WithoutSMTPUTF8(),
	}
	if m.server.user != "" {
		options = append(options, mail.WithUsername(m.server.user), mail.WithPassword(m.server.password),
			// go-mail uses PLAIN and LOGIN only over TLS or to this machine.
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	return options
}

func (m *Mailer) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: m.server.host, RootCAs: m.rootCAs, MinVersion: tls.VersionTLS12}
}

// concernsMessage reports whether an error is the server's permanent refusal of the message: a 5yz
// reply to RCPT, to DATA, or to the end of the data. All other errors are temporary, because the
// operator can fix them: also a refused connection, EHLO name, login, sender or client, and an invalid
// certificate.
func concernsMessage(err error) bool {
	failure, ok := errors.AsType[*mail.SendError](err)
	if !ok || failure.ErrorCode() < 500 {
		return false
	}
	switch failure.Reason {
	case mail.ErrSMTPRcptTo, mail.ErrSMTPData:
		// A server may refuse the client, its EHLO name and the sender as late as at RCPT: Postfix does by default.
		return !concernsLogin(err) && !concernsPolicy(err) && !concernsSender(err) && !concernsHELO(err)
	case mail.ErrSMTPDataClose:
		return !concernsLogin(err) && !concernsSender(err)
	}
	return false
}

// concernsHELO reports whether the server refused the EHLO name: in its reply to EHLO, with 504 (the
// parameter of a command that needs a full name), or in the words of Postfix. X.5.z is no sign of it:
// Outlook.com refuses an unknown recipient with 5.5.0.
func concernsHELO(err error) bool {
	return strings.HasPrefix(err.Error(), "smtp: EHLO/HELO exchange failed") || replyCode(err) == 504 || strings.Contains(err.Error(), "Helo command rejected")
}

// concernsPolicy reports whether the server refused this client before it saw the message's content:
// X.7.z is an error of security or policy (RFC 3463, section 3.8), such as "Relay access denied". A
// server without enhanced status codes says so in words only.
func concernsPolicy(err error) bool {
	failure, ok := errors.AsType[*mail.SendError](err)
	if !ok || failure.Reason == mail.ErrSMTPDataClose {
		return false
	}
	if status := statusCode(err); status != "" {
		return strings.HasPrefix(status, "5.7.")
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "relay") || strings.Contains(text, "authentication")
}

// concernsLogin reports whether a login is missing or failed: 530 to 538, to any command (RFC 4954,
// sections 4 and 6).
func concernsLogin(err error) bool {
	code := replyCode(err)
	return code >= 530 && code <= 538
}

// senderCodes are errors of the sender's address (RFC 3463, section 3.2), and Exchange's of its rights, which come
// after the data.
var senderCodes = []string{"5.1.7", "5.1.8", "5.7.60", "5.2.252"}

// concernsSender reports whether the server refused the sender.
func concernsSender(err error) bool {
	failure, ok := errors.AsType[*mail.SendError](err)
	return ok && (failure.Reason == mail.ErrSMTPMailFrom || slices.Contains(senderCodes, statusCode(err)))
}

// statusCode returns the enhanced status code of the server's reply in an error (RFC 2034), or "". Some servers
// send it without announcing it, and go-mail then leaves it in the text.
func statusCode(err error) string {
	failure, _ := errors.AsType[*mail.SendError](err)
	if announced := failure.EnhancedStatusCode(); announced != "" {
		return announced
	}
	if m := inReply.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// inReply matches a reply's code and enhanced status code in the text of an error.
var inReply = regexp.MustCompile(`: [45][0-9]{2} "?([45]\.[0-9]{1,3}\.[0-9]{1,3})\b`)

// replyCode returns the code of the server's reply in an error, or 0.
func replyCode(err error) int {
	if failure, ok := errors.AsType[*mail.SendError](err); ok {
		return failure.ErrorCode()
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return reply.Code
	}
	return 0
}

// loginErrorPrefix begins go-mail's errors about AUTH, which are untyped.
const loginErrorPrefix = "SMTP AUTH failed: "

func isLoginError(err error) bool { return strings.HasPrefix(err.Error(), loginErrorPrefix) }

// describe returns an error's message with the setting to check, without the recipient, which go-mail
// appends, and without the password, which a server may quote.
func (m *Mailer) describe(err error) string {
	code := replyCode(err)
	if isLoginError(err) {
		// The reply may quote the password in any encoding, so its text is omitted.
		if code != 0 {
			return fmt.Sprintf("%sthe server's reply is %d; check the user and the password", loginErrorPrefix, code)
		}
		return loginErrorPrefix + "the server's reply is not valid SMTP, or the connection was closed"
	}
	text, _, _ := strings.Cut(err.Error(), ", affected ")
	text = m.server.redactPassword(text)
	switch {
	case code < 500 || concernsMessage(err):
		return text
	case concernsLogin(err):
		return text + "; check the user and the password of --smtp-url"
	case concernsPolicy(err):
		return text + "; the server does not accept mail from this machine: check --smtp-url with its user and password, --smtp-helo and --smtp-from"
	case concernsHELO(err):
		return text + "; set --smtp-helo to a name of this machine that the server accepts"
	case concernsSender(err):
		return text + "; check that the server accepts mail from the address of --smtp-from"
	}
	return text + "; check that --smtp-url is the right server, and that it accepts mail from this machine"
}
