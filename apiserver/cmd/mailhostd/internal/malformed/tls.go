package malformed

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// protocols are those that TLS negotiates (RFC 7301), the preferred one first.
var protocols = []string{"h2", "http/1.1"}

// TLSListener is Listener for a server with TLS. Each connection has the timeout for
// its handshake; failures go to errorLog. The server's TLSConfig must be the one that
// Config returns for config, and its ConnContext and the handler those of this package.
func TLSListener(l net.Listener, config *tls.Config, timeout time.Duration, errorLog *log.Logger) net.Listener {
	t := &tlsListener{Listener: l, config: Config(config), timeout: timeout, log: errorLog, ready: make(chan net.Conn), failed: make(chan error)}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.acceptAll()
	return t
}

// Config returns the configuration with the protocols that http.Server speaks.
func Config(c *tls.Config) *tls.Config {
	c = c.Clone()
	c.NextProtos = protocols
	return c
}

type tlsListener struct {
	net.Listener
	config  *tls.Config
	timeout time.Duration
	log     *log.Logger

	// ready are connections after their handshake, failed the errors of Accept.
	ready  chan net.Conn
	failed chan error
	// ctx ends when the listener is closed.
	ctx    context.Context
	cancel context.CancelFunc
	close  sync.Once
}

func (l *tlsListener) acceptAll() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.handshake(c)
			continue
		}
		select {
		case l.failed <- err: // http.Server decides whether to continue
		case <-l.ctx.Done():
			return
		}
	}
}

// Accept implements net.Listener.
func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It ends the handshakes as well.
func (l *tlsListener) Close() (err error) {
	l.close.Do(func() {
		l.cancel()
		err = l.Listener.Close()
	})
	return err
}

func (l *tlsListener) handshake(c net.Conn) {
	ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
	defer cancel()
	secure := tls.Server(c, l.config)
	if err := secure.HandshakeContext(ctx); err != nil {
		if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && beginsLikeHTTP(plain.RecordHeader) {
			l.rejectPlain(plain.Conn)
		} else if l.ctx.Err() == nil {
			l.log.Printf("http: TLS handshake error from %s: %v", c.RemoteAddr(), err)
		}
		_ = c.Close()
		return
	}
	state := secure.ConnectionState()
	var ready net.Conn = secure
	if state.NegotiatedProtocol != "h2" {
		ready = &conn{Conn: secure, tls: &state}
	}
	select {
	case l.ready <- ready:
	case <-l.ctx.Done():
		_ = c.Close()
	}
}

// beginsLikeHTTP reports whether the first bytes of a connection are the beginning
// of a request line: a method, perhaps with the space and the slash after it.
func beginsLikeHTTP(header [5]byte) bool {
	for i, b := range header {
		upper := b >= 'A' && b <= 'Z'
		if !upper && (i < 3 || b != ' ' && b != '/') {
			return false
		}
	}
	return true
}

// lingerTime and lingerBytes limit how much of a request is read after the response.
// Closing a connection with unread data would reset it, and the client could lose the
// response.
const (
	lingerTime  = time.Second
	lingerBytes = 64 << 10
)

// rejectPlain responds to a request in plain HTTP.
func (l *tlsListener) rejectPlain(c net.Conn) {
	l.log.Printf("http: TLS handshake error from %s: the client sent plain HTTP", c.RemoteAddr())
	_ = c.SetDeadline(time.Now().Add(lingerTime))
	if _, err := c.Write(response(malformed(http.StatusBadRequest, "this port speaks HTTPS; use https:// in the URL"))); err != nil {
		return
	}
	_ = (&conn{Conn: c}).CloseWrite()
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}

type connKey struct{}

// ConnContext is for http.Server. It keeps the state of TLS for Handler.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if wrapped, ok := c.(*conn); ok && wrapped.tls != nil {
		return context.WithValue(ctx, connKey{}, wrapped.tls)
	}
	return ctx
}

// Handler sets the TLS of requests over a TLSListener's connections of HTTP/1.1, as
// http.Server does for a *tls.Conn.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if state, ok := r.Context().Value(connKey{}).(*tls.ConnectionState); ok && r.TLS == nil {
			r.TLS = state
		}
		next.ServeHTTP(w, r)
	})
}
