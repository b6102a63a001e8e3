package malformed

import (
	"net"
)

// Listener returns l with connections that respond in JSON where net/http rejects a
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
