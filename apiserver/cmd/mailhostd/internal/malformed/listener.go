package malformed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// The types of a problem that only a request which is no HTTP has.
const (
	TypeBadRequest     = "bad_request"
	TypeHeaderTooLarge = "header_too_large"
)

// Listener returns l with connections that answer in JSON where net/http gives a
// request up by itself. It is for a server without TLS: http.Server has to see
// that a connection is a *tls.Conn.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

// byItself is what follows the status line of net/http's own answers, and of no
// handler's: those have a Date.
const byItself = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn.
func (c conn) Write(b []byte) (int, error) {
	line, text, found := bytes.Cut(b, []byte(byItself))
	status, ok := statusOf(line)
	if !found || !ok {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(answer(status, string(text))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// statusOf returns the status of a line such as HTTP/1.1 400 Bad Request.
func statusOf(line []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if !ok || len(rest) < 3 || bytes.ContainsAny(rest, "\r\n") {
		return 0, false
	}
	status, err := strconv.Atoi(string(rest[:3]))
	return status, err == nil && status >= http.StatusBadRequest
}

// answer is the API's answer instead; text is what net/http says.
func answer(status int, text string) []byte {
	typ := TypeBadRequest
	if status == http.StatusRequestHeaderFieldsTooLarge {
		typ = TypeHeaderTooLarge
	}
	body, _ := json.Marshal(api.NewError(status, typ, "the request can't be read as HTTP: %s", text)) // strings alone
	body = append(body, '\n')
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(body), uuid.NewString(), body)
}
