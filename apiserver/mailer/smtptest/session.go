package smtptest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
)

type session struct {
	server    *Server
	conn      net.Conn
	reader    *bufio.Reader
	encrypted bool
	user      string
	mail      *Mail // between MAIL and the end of DATA
}

func newSession(s *Server, conn net.Conn) *session {
	c := &session{server: s}
	if s.options.ImplicitTLS {
		conn, c.encrypted = tls.Server(conn, s.tls), true
	}
	c.use(conn)
	return c
}

func (c *session) use(conn net.Conn) { c.conn, c.reader = conn, bufio.NewReader(conn) }

// run serves the connection until it ends.
func (c *session) run() {
	if !c.reply("CONNECT", func() string { return "220 mail.test ESMTP" }) {
		return
	}
	for {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		verb = strings.ToUpper(verb)
		if verb == "AUTH" {
			mechanism, _, _ := strings.Cut(rest, " ")
			line = verb + " " + mechanism
		}
		c.server.recordCommand(line)
		if !c.reply(verb, func() string { return c.handle(verb, rest) }) || verb == "QUIT" {
			return
		}
	}
}

// reply sends the reply to a command, and reports whether the session continues.
func (c *session) reply(command string, standard func() string) bool {
	reply, ok := c.server.override(command)
	if !ok {
		reply = standard()
	}
	if reply == "" {
		return false
	}
	_, err := fmt.Fprintf(c.conn, "%s\r\n", reply)
	return err == nil
}

// handle executes a command and returns the standard reply.
func (c *session) handle(verb, rest string) string {
	switch verb {
	case "EHLO":
		return c.greet()
	case "STARTTLS":
		return c.startTLS()
	case "AUTH":
		return c.authenticate(rest)
	case "QUIT":
		return "221 2.0.0 Bye"
	case "MAIL", "RCPT", "DATA":
		return c.handleMail(verb, rest)
	}
	return "502 5.5.1 Command not implemented"
}

func (c *session) greet() string {
	lines := []string{"mail.test", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"}
	if c.server.options.STARTTLS && !c.encrypted {
		lines = append(lines, "STARTTLS")
	}
	if c.server.options.User != "" {
		lines = append(lines, "AUTH PLAIN")
	}
	last := len(lines) - 1
	return "250-" + strings.Join(lines[:last], "\r\n250-") + "\r\n250 " + lines[last]
}

// startTLS sends its own reply, because the connection is encrypted after it.
func (c *session) startTLS() string {
	if !c.server.options.STARTTLS || c.encrypted {
		return "502 5.5.1 Command not implemented"
	}
	if _, err := fmt.Fprint(c.conn, "220 2.0.0 Go ahead\r\n"); err != nil {
		return ""
	}
	c.use(tls.Server(c.conn, c.server.tls))
	c.encrypted, c.user, c.mail = true, "", nil
	line, err := c.reader.ReadString('\n') // EHLO is repeated
	if err != nil {
		return ""
	}
	c.server.recordCommand(strings.TrimRight(line, "\r\n"))
	return c.greet()
}

func (c *session) authenticate(rest string) string {
	mechanism, initial, _ := strings.Cut(rest, " ")
	if mechanism != "PLAIN" {
		return "504 5.5.4 Unrecognized authentication type"
	}
	response, err := base64.StdEncoding.DecodeString(initial)
	if o := c.server.options; err != nil || o.User == "" || string(response) != "\x00"+o.User+"\x00"+o.Password {
		return "535 5.7.8 Authentication credentials invalid"
	}
	c.user = c.server.options.User
	return "235 2.7.0 Authentication successful"
}

func (c *session) handleMail(verb, rest string) string {
	switch path := strings.Fields(rest[strings.IndexByte(rest, ':')+1:] + " "); {
	case c.server.options.User != "" && c.user == "":
		return "530 5.7.0 Authentication required"
	case verb == "MAIL" && len(path) > 0:
		c.mail = &Mail{From: strings.Trim(path[0], "<>"), Encrypted: c.encrypted, User: c.user}
	case verb == "RCPT" && len(path) > 0 && c.mail != nil:
		c.mail.To = append(c.mail.To, strings.Trim(path[0], "<>"))
	case verb == "DATA" && c.mail != nil && len(c.mail.To) > 0:
		return c.data()
	default:
		return "503 5.5.1 Bad sequence of commands"
	}
	return "250 2.1.0 OK"
}

// data receives a message and stores it, unless Options.Replies has another reply.
func (c *session) data() string {
	if _, err := fmt.Fprint(c.conn, "354 End data with <CR><LF>.<CR><LF>\r\n"); err != nil {
		return ""
	}
	var data strings.Builder
	for {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == ".\r\n" {
			break
		}
		data.WriteString(strings.TrimPrefix(line, "."))
	}
	c.mail.Data = data.String()
	m := *c.mail
	c.mail = nil
	if reply, ok := c.server.override("."); ok {
		return reply
	}
	c.server.store(m)
	return "250 2.0.0 Accepted"
}
