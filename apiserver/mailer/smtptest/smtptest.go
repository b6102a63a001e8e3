// Package smtptest provides a mail server for tests. It speaks SMTP (RFC 5321) on
// 127.0.0.1, optionally with TLS and AUTH PLAIN, stores the messages that it receives,
// and sends error replies on demand.
package smtptest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"maps"
	"net"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// Options configure a server.
type Options struct {
	// STARTTLS offers STARTTLS; ImplicitTLS uses TLS from the first byte.
	STARTTLS, ImplicitTLS bool
	// User and Password are the required login; empty requires none.
	User, Password string
	// Replies maps a command to replies that replace the default replies, in order, each once.
	// CONNECT is the greeting and "." the end of a message. An empty reply closes the connection.
	Replies map[string][]string
	// Unannounced sends enhanced status codes without announcing them, which RFC 2034 does not permit.
	Unannounced bool
}

// Mail is a message that the server accepted.
type Mail struct {
	From string
	To   []string
	// Data is the message as received, with LF line ends.
	Data string
	// Encrypted reports whether the message was sent over TLS. User is the login.
	Encrypted bool
	User      string
}

// Server is a running mail server.
type Server struct {
	// Addr is its host and port.
	Addr string
	// RootCAs contains the authority of the server's certificate for 127.0.0.1.
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
	web := httptest.NewTLSServer(nil)                       // only for its certificate
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

// Wait waits until the server has accepted n messages, and returns all messages.
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

// Mails returns the messages accepted so far.
func (s *Server) Mails() []Mail { return s.Wait(0) }

// Commands returns the lines received so far, without messages and the arguments of AUTH.
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
			if s.options.ImplicitTLS {
				s.serve(tls.Server(conn, s.tls), true)
			} else {
				s.serve(conn, false)
			}
		})
	}
}

// serve serves a connection until it ends.
func (s *Server) serve(conn net.Conn, encrypted bool) {
	text := textproto.NewConn(conn)
	o, mail, user := s.options, Mail{}, ""
	if s.reply(text, "CONNECT", "220 mail.test ESMTP") == "" {
		return
	}
	for {
		line, err := text.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		address, _, _ := strings.Cut(rest[strings.IndexByte(rest, '<')+1:], ">")
		if verb == "AUTH" {
			line = "AUTH"
		}
		s.mu.Lock()
		s.commands = append(s.commands, line)
		s.mu.Unlock()
		reply := "250 2.1.0 OK"
		switch {
		case verb == "EHLO":
			reply = "250-8BITMIME\r\n250-SMTPUTF8\r\n250 ENHANCEDSTATUSCODES"
			if o.Unannounced {
				reply = "250-8BITMIME\r\n250 SMTPUTF8"
			}
			if o.STARTTLS && !encrypted {
				reply = "250-STARTTLS\r\n" + reply
			}
			if o.User != "" {
				reply = "250-AUTH PLAIN\r\n" + reply
			}
			reply = "250-mail.test\r\n" + reply
		case verb == "STARTTLS" && o.STARTTLS && !encrypted:
			reply = "220 2.0.0 Go ahead"
		case verb == "AUTH" && rest == "PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00"+o.User+"\x00"+o.Password)):
			reply, user = "235 2.7.0 Authentication successful", o.User
		case verb == "AUTH":
			reply = "535 5.7.8 Authentication credentials invalid"
		case verb == "QUIT":
			reply = "221 2.0.0 Bye"
		case verb == "RSET":
			mail = Mail{}
		case user != o.User:
			reply = "530 5.7.0 Authentication required"
		case verb == "MAIL":
			mail = Mail{From: address, Encrypted: encrypted, User: user}
		case verb == "RCPT" && mail.From != "":
			mail.To = append(mail.To, address)
		case verb == "DATA" && mail.To != nil:
			reply = "354 End data with <CR><LF>.<CR><LF>"
		default:
			reply = "503 5.5.1 Bad sequence of commands"
		}
		switch reply = s.reply(text, verb, reply); {
		case reply == "" || verb == "QUIT":
			return
		case verb == "STARTTLS" && reply[0] == '2':
			conn, encrypted = tls.Server(conn, s.tls), true
			text = textproto.NewConn(conn)
		case verb == "DATA" && reply[0] == '3':
			data, err := text.ReadDotBytes()
			if err != nil {
				return
			}
			mail.Data = string(data)
			switch s.reply(text, ".", "250 2.0.0 Accepted") {
			case "":
				return
			case "250 2.0.0 Accepted":
				s.mu.Lock()
				s.mails = append(s.mails, mail)
				s.changed.Broadcast()
				s.mu.Unlock()
			}
		}
	}
}

// reply sends a reply to a command, by default standard, and returns it. It returns "" to close the
// connection.
func (s *Server) reply(text *textproto.Conn, command, standard string) string {
	s.mu.Lock()
	if next := s.replies[command]; len(next) > 0 {
		standard, s.replies[command] = next[0], next[1:]
	}
	s.mu.Unlock()
	if standard == "" || text.PrintfLine("%s", standard) != nil {
		return ""
	}
	return standard
}
