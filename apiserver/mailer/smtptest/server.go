// Package smtptest is a mail server for tests: it speaks SMTP (RFC 5321) on
// 127.0.0.1, with STARTTLS and AUTH PLAIN where it is told to, keeps what it gets
// and refuses what a test wants refused.
//
// It imports the standard library alone.
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
)

// Options say what a server can do.
type Options struct {
	// STARTTLS offers encryption, ImplicitTLS begins with it.
	STARTTLS, ImplicitTLS bool
	// User and Password must be given before mail is taken, if they are not empty.
	User, Password string
	// Replies are what commands are answered instead of the usual, by the command
	// and in turn, until there is none left. CONNECT is the greeting and "." the
	// end of a message. The reply "" closes the connection.
	Replies map[string][]string
}

// Mail is a message that the server took.
type Mail struct {
	From string
	To   []string
	// Data is the message as it came, with CRLF at the ends of lines.
	Data string
	// Encrypted says that it came over TLS, User who had logged in.
	Encrypted bool
	User      string
}

// Server is a running mail server.
type Server struct {
	// Addr is its host and port.
	Addr string
	// RootCAs holds the authority of its certificate, which is for 127.0.0.1.
	RootCAs *x509.CertPool

	options  Options
	tls      *tls.Config
	listener net.Listener

	mu       sync.Mutex
	more     *sync.Cond
	replies  map[string][]string
	commands []string
	mails    []Mail
	open     map[net.Conn]bool
	serving  sync.WaitGroup
}

// NewServer starts a server that runs until the test ends.
func NewServer(t testing.TB, o Options) *Server {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: l.Addr().String(), RootCAs: x509.NewCertPool(), options: o, listener: l, replies: map[string][]string{}, open: map[net.Conn]bool{}}
	s.more = sync.NewCond(&s.mu)
	for command, replies := range maps.All(o.Replies) {
		s.replies[command] = slices.Clone(replies)
	}
	web := httptest.NewTLSServer(nil)                       // has a certificate to lend
	s.tls = &tls.Config{Certificates: web.TLS.Certificates} //nolint:gosec // the default is new enough
	s.RootCAs.AddCert(web.Certificate())
	web.Close()
	s.serving.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

// Close ends the server and its connections.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// Wait returns the messages that the server took, once there are n.
func (s *Server) Wait(n int) []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.mails) < n {
		s.more.Wait()
	}
	return slices.Clone(s.mails)
}

// WaitIdle returns once no client is connected.
func (s *Server) WaitIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.open) > 0 {
		s.more.Wait()
	}
}

// Mails returns the messages that the server has taken so far.
func (s *Server) Mails() []Mail { return s.Wait(0) }

// Commands returns the lines that clients have sent so far, without messages
// and what AUTH sends.
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
		s.serving.Go(func() {
			defer func() {
				s.mu.Lock()
				delete(s.open, conn)
				s.more.Broadcast()
				s.mu.Unlock()
				_ = conn.Close()
			}()
			newSession(s, conn).run()
		})
	}
}

// instead returns the reply that a test wants for a command.
func (s *Server) instead(command string) (reply string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies[command]) == 0 {
		return "", false
	}
	reply, s.replies[command] = s.replies[command][0], s.replies[command][1:]
	return reply, true
}

func (s *Server) noteCommand(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, line)
}

func (s *Server) keep(m Mail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	s.more.Broadcast()
}
