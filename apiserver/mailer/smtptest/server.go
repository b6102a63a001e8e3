// Package smtptest provides a mail server for tests. It speaks SMTP (RFC 5321) on
// 127.0.0.1, optionally with TLS and AUTH PLAIN, stores the messages that it receives,
// and sends error replies on demand.
package smtptest

import (
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// Options configure a server.
type Options struct {
	// STARTTLS offers STARTTLS; ImplicitTLS uses TLS from the first byte.
	STARTTLS, ImplicitTLS bool
	// User and Password are the required login, unless empty.
	User, Password string
	// Replies are replies by command that replace the default ones, in order,
	// each once. CONNECT is the greeting and "." the end of a message. An empty
	// reply closes the connection.
	Replies map[string][]string
}

// Mail is a message that the server accepted.
type Mail struct {
	From string
	To   []string
	// Data is the message as received, with CRLF line ends.
	Data string
	// Encrypted reports whether the message was sent over TLS. User is the login.
	Encrypted bool
	User      string
}

// Server is a running mail server.
type Server struct {
	// Addr is its host and port.
	Addr string
	// RootCAs has the authority of its certificate for 127.0.0.1.
	RootCAs *x509.CertPool

	options  Options
	tls      *tls.Config
	listener net.Listener

	mu          sync.Mutex
	changed     *sync.Cond
	replies     map[string][]string
	commands    []string
	mails       []Mail
	open        map[net.Conn]bool
	connections sync.WaitGroup
}

// NewServer starts a server that ends with the test.
func NewServer(t testing.TB, o Options) *Server {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	s := &Server{Addr: l.Addr().String(), RootCAs: x509.NewCertPool(), options: o, listener: l, replies: maps.Clone(o.Replies), open: map[net.Conn]bool{}}
	s.changed = sync.NewCond(&s.mu)
	web := httptest.NewTLSServer(nil)                       // only its certificate is used
	s.tls = &tls.Config{Certificates: web.TLS.Certificates} //nolint:gosec // the default version is recent enough
	s.RootCAs.AddCert(web.Certificate())
	web.Close()
	s.connections.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.connections.Wait()
}

// Wait waits until the server has accepted n messages, and returns all.
func (s *Server) Wait(n int) []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.mails) < n {
		s.changed.Wait()
	}
	return slices.Clone(s.mails)
}

// WaitIdle waits until no client is connected.
func (s *Server) WaitIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.open) > 0 {
		s.changed.Wait()
	}
}

// Mails returns the messages that the server has accepted so far.
func (s *Server) Mails() []Mail { return s.Wait(0) }

// Commands returns the lines that clients have sent so far, without messages and the
// arguments of AUTH.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[conn] = true
		s.mu.Unlock()
		s.connections.Go(func() {
			defer func() {
				s.mu.Lock()
				delete(s.open, conn)
				s.changed.Broadcast()
				s.mu.Unlock()
				_ = conn.Close()
			}()
			newSession(s, conn).run()
		})
	}
}

// override returns the next of Options.Replies for a command.
func (s *Server) override(command string) (reply string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies[command]) == 0 {
		return "", false
	}
	reply, s.replies[command] = s.replies[command][0], s.replies[command][1:]
	return reply, true
}

func (s *Server) recordCommand(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, line)
}

func (s *Server) store(m Mail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	s.changed.Broadcast()
}
