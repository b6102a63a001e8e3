package mailer

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"github.com/wneessen/go-mail"
)

// submit sends a letter on a new connection. go-mail closes that only where all
// goes well, and minds a context only while it dials.
func (m *Mailer) submit(ctx context.Context, letter *mail.Msg) error {
	hangUp := func() {}
	defer func() { hangUp() }()
	dial := func(dialing context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(dialing, network, m.server.address())
		if err != nil {
			return nil, err
		}
		hangUp = sync.OnceFunc(func() { _ = conn.Close() })
		context.AfterFunc(ctx, hangUp)
		return m.secured(dialing, conn)
	}
	client, err := mail.NewClient(m.server.host, m.clientOptions(dial)...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if err := client.SendWithSMTPClient(session, letter); err != nil {
		return err
	}
	// The message is in the server's hands: what it makes of QUIT is of no matter.
	_ = client.CloseWithSMTPClient(session)
	return nil
}

// secured returns a connection as the session begins on it.
func (m *Mailer) secured(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if !m.server.implicitTLS {
		return conn, nil
	}
	encrypted := tls.Client(conn, m.tlsConfig())
	return encrypted, encrypted.HandshakeContext(ctx)
}

func (m *Mailer) clientOptions(dial mail.DialContextFunc) []mail.Option {
	options := []mail.Option{
		mail.WithPort(m.server.port), mail.WithTimeout(m.timeout), mail.WithDialContextFunc(dial),
		mail.WithTLSPolicy(m.server.starttls), mail.WithTLSConfig(m.tlsConfig()),
		// The connection is new, is used once, and carries ASCII addresses.
		mail.WithoutNoop(), mail.WithoutRset(), mail.WithoutSMTPUTF8(),
	}
	if m.server.user != "" {
		options = append(options, mail.WithUsername(m.server.user), mail.WithPassword(m.server.password),
			// go-mail sends PLAIN and LOGIN over TLS or to this machine alone.
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	return options
}

func (m *Mailer) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: m.server.host, RootCAs: m.rootCAs, MinVersion: tls.VersionTLS12}
}
