package mailer

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	netmail "net/mail"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
)

// Options configure a Mailer. URL and From are required.
type Options struct {
	// URL is where the mail server is: smtp://[user:password@]host[:port], by
	// default at port 587, or smtps://…, by default at port 465.
	//
	// smtp:// must be encrypted with STARTTLS (RFC 3207) before anything else is
	// said; to a server on this machine it is where the server can. ?tls=starttls
	// makes it a must there too, ?tls=none does without, and then there can be a
	// password only for this machine. smtps:// is encrypted from the start.
	URL string
	// From is the sender: an address, or a name and an address as in
	// "Mailhost <no-reply@example.com>".
	From string
	// RootCAs are the authorities that the server's certificate may come from;
	// nil: the system's.
	RootCAs *x509.CertPool
	// Timeout is how long the server may be silent; 0: 15 seconds.
	Timeout time.Duration
}

const defaultTimeout = 15 * time.Second

// Mailer is an apiserver.Courier that sends over SMTP. It is safe for concurrent
// use and keeps no connection.
type Mailer struct {
	server  server
	from    *netmail.Address
	domain  string // the sender's, for Message-IDs
	rootCAs *x509.CertPool
	timeout time.Duration
}

var _ apiserver.Courier = (*Mailer)(nil)

// New returns a Mailer. It connects to nothing yet. Its errors begin with the
// option that is wrong, "url: " or "from: ", and never tell the password.
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
	m := &Mailer{server: server, from: from, domain: address.Domain, rootCAs: o.RootCAs, timeout: o.Timeout}
	if m.timeout <= 0 {
		m.timeout = defaultTimeout
	}
	return m, nil
}

// Server returns the mail server's URL without user and password.
func (m *Mailer) Server() string { return m.server.String() }

// From returns the sender's address.
func (m *Mailer) From() string { return m.from.Address }

// Send hands a message to the mail server. It implements apiserver.Courier.
func (m *Mailer) Send(ctx context.Context, message apiserver.Message) error {
	letter, err := m.compose(message)
	if err != nil {
		return fmt.Errorf("%w: %w", apiserver.ErrUndeliverable, err)
	}
	if err = m.submit(ctx, letter); err == nil || letter.IsDelivered() {
		return nil
	}
	if isPermanent(err) {
		return fmt.Errorf("%w: %s: %s", apiserver.ErrUndeliverable, m.server, m.said(err))
	}
	return fmt.Errorf("%s: %s", m.server, m.said(err))
}

// compose puts a message into the form of RFC 5322. Every value of a header is
// parsed or encoded, so that no line break in it can begin another header.
func (m *Mailer) compose(message apiserver.Message) (*mail.Msg, error) {
	// The canonical form has ASCII alone: no server needs SMTPUTF8 (RFC 6531) for
	// it, and an address that would is refused here.
	to, err := emailaddr.Parse(message.To)
	if err != nil {
		return nil, fmt.Errorf("the recipient: %w", err)
	}
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	letter.FromMailAddress(m.from)
	letter.ToMailAddress(&netmail.Address{Address: to.String()})
	letter.Subject(message.Subject)
	letter.SetDateWithValue(message.SentAt)
	letter.SetMessageIDWithValue(message.ID + "@" + m.domain)
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834, section 5
	letter.SetBodyString(mail.TypeTextPlain, message.Text)
	if message.HTML != "" {
		letter.AddAlternativeString(mail.TypeTextHTML, message.HTML)
	}
	return letter, nil
}
