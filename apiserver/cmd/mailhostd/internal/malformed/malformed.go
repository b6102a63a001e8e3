// Package malformed responds to requests that no handler sees in the API's form.
//
// net/http writes the responses to requests that are not HTTP by itself, as a line
// of text, and those to unknown expectations without a body. Listener and
// TLSListener replace both on their way to the client. http.Server must have a
// *tls.Conn for HTTP/2 only, so TLSListener does the handshakes itself: it passes on
// connections that negotiated HTTP/2 as they are and wraps those of HTTP/1.1. It
// also responds to plain HTTP on the TLS port.
//
// The package imports the contract (api), for the form of an error, and the standard
// library.
package malformed

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// The error types of requests that are not HTTP.
const (
	TypeBadRequest     = "bad_request"
	TypeHeaderTooLarge = "header_too_large"
)

// Listener returns l with connections that respond in JSON when net/http rejects a
// request by itself. It is for a server without TLS.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn is a connection of HTTP/1.1 that replaces net/http's own responses.
type conn struct {
	net.Conn
	tls *tls.ConnectionState // nil without TLS
}

// bodyless is the beginning of net/http's response to an unknown expectation. A
// handler's response with that status has an X-Request-Id.
var (
	bodyless  = []byte("HTTP/1.1 417 Expectation Failed\r\n")
	requestID = []byte("\r\nX-Request-Id: ")
)

// textHeader follows the status line of net/http's responses in text. A handler's
// response has a Date there.
const textHeader = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	replacement := b
	if bytes.HasPrefix(b, bodyless) && !bytes.Contains(b, requestID) {
		replacement = response(api.ExpectationFailed())
	} else if line, text, found := bytes.Cut(b, []byte(textHeader)); found {
		if status, ok := statusOf(line); ok {
			replacement = response(malformed(status, string(text)))
		}
	}
	if _, err := c.Conn.Write(replacement); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite is called by net/http before it closes a connection with unread data.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
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

// malformed returns the error for a request that net/http has rejected with a text.
func malformed(status int, text string) *api.Error {
	typ := TypeBadRequest
	if status == http.StatusRequestHeaderFieldsTooLarge {
		typ = TypeHeaderTooLarge
	}
	return api.NewError(status, typ, "the request can't be read as HTTP: %s", text)
}

// response returns the bytes of a response with an error, after which the
// connection closes.
func response(e *api.Error) []byte {
	body, _ := json.Marshal(e) // it has only strings
	body = append(body, '\n')
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n%s",
		e.GetStatus(), http.StatusText(e.GetStatus()), len(body), uuid.NewString(), body)
}
