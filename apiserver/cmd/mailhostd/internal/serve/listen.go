package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	// EINVAL is the error of an IPv6 zone that does not exist.
	if _, unknown := errors.AsType[*net.DNSError](err); unknown || errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EINVAL) {
		return nil, fmt.Errorf("%s: %s is no address of this machine; use one such as 127.0.0.1:8080, 0.0.0.0:8080 for all addresses, or a port alone", flag, address)
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s: %w; stop the program that listens there, or choose another address", flag, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: %w; choose a port from 1024, or give the program the capability CAP_NET_BIND_SERVICE", flag, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return l, nil
}

// checkAddress returns an error if a flag is not an address to listen on.
func checkAddress(flag, address string) error {
	host, port, err := net.SplitHostPort(loopbackForPort(address))
	_, portErr := net.DefaultResolver.LookupPort(context.Background(), "tcp", port) // asks no DNS server
	ip, _ := netip.ParseAddr(strings.Trim(address, "[]"))
	bare, barePort := cutBarePort(address)
	var reason string
	switch {
	case strings.HasPrefix(address, "unix:") || strings.HasPrefix(address, "/") || strings.HasPrefix(address, "./") || strings.HasPrefix(address, "@"):
		reason = "the server does not listen on Unix sockets"
	case strings.Contains(address, "/"):
		reason = "leave out the scheme and the path of a URL"
	case host == "*":
		reason = "all addresses are 0.0.0.0:" + port
	case bare != "":
		reason = "an IPv6 address stands in brackets, as in " + net.JoinHostPort(bare, barePort)
	case err != nil && ip.IsValid():
		reason = "the port is missing, as in " + net.JoinHostPort(ip.String(), "8080")
	case err != nil && strings.Count(address, ":") > 1:
		reason = "an IPv6 address stands in brackets, as in [::1]:8080"
	case address != "" && strings.Trim(address, "0123456789") == "" && err != nil, err == nil && port != "" && portErr != nil:
		reason = "the port must be between 0 and 65535"
	case err != nil || port == "":
		reason = "the port is missing, as in " + cmp.Or(strings.Trim(address, "[]:"), "127.0.0.1") + ":8080"
	default:
		return nil
	}
	return fmt.Errorf("%s: %.64q is no address to listen on: %s; use a host and a port such as 127.0.0.1:8080, 0.0.0.0:8080 for all addresses, or a port alone", flag, address, reason)
}

// cutBarePort splits an IPv6 address without brackets from the port after it, as in ::1:8080. Host is "" if
// address is not of this form; a number from 1 to 79 is rather the last group of the address.
func cutBarePort(address string) (host, port string) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", ""
	}
	host, port = address[:i], address[i+1:]
	if host == ":" { // ::8080
		host = "::"
	}
	ip, err := netip.ParseAddr(host)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || !ip.Is6() || 0 < number && number < 80 {
		return "", ""
	}
	return host, port
}

// loopbackForPort adds the host 127.0.0.1 to a mere port, such as 8080. :8080 stays an address on all interfaces.
func loopbackForPort(address string) string {
	if _, err := strconv.ParseUint(address, 10, 16); err != nil {
		return address
	}
	return net.JoinHostPort("127.0.0.1", address)
}

// loopbackByDefault adds the host 127.0.0.1 to a mere port, also in the form :8080.
func loopbackByDefault(address string) string {
	return loopbackForPort(strings.TrimPrefix(address, ":"))
}

// urlOf returns the URL of a server on this machine that listens on an address.
func urlOf(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if host == "" || net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// isLocal reports whether an address to listen on is on the loopback interface.
func isLocal(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, _ := netip.ParseAddr(host)
	return host == "localhost" || ip.IsLoopback()
}

// connections is a listener that limits a server's open connections. At the limit, it closes the connection that
// was idle the longest, so that unused connections lock no client out. If none is idle, the next client waits.
type connections struct {
	net.Listener
	limit int

	mu      sync.Mutex
	changed sync.Cond // signals a change of the fields below
	closed  bool
	open    map[net.Conn]bool
	idle    []net.Conn // the longest idle first
}

func limitConnections(server *http.Server, l net.Listener, limit int) *connections {
	c := &connections{Listener: l, limit: limit, open: map[net.Conn]bool{}}
	c.changed.L = &c.mu
	next := server.ConnState
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		c.note(conn, state)
		if next != nil {
			next(conn, state)
		}
	}
	return c
}

func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.open) >= c.limit && !c.closed {
		if len(c.idle) == 0 {
			c.changed.Wait()
			continue
		}
		_ = c.idle[0].Close()
		delete(c.open, c.idle[0])
		c.idle = c.idle[1:]
	}
	if c.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	return conn, nil
}

// note records the state of a connection.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = slices.DeleteFunc(c.idle, func(idle net.Conn) bool { return idle == conn })
	switch state {
	case http.StateNew:
		c.open[conn] = true
	case http.StateIdle:
		c.idle = append(c.idle, conn)
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
	c.changed.Signal()
}

func (c *connections) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.changed.Signal()
	return c.Listener.Close()
}
