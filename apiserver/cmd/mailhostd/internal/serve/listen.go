package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		// The message of a *net.OpError would repeat the address.
		cause := err
		if op := new(net.OpError); errors.As(err, &op) {
			cause = op.Err
		}
		return nil, fmt.Errorf("%s: can't listen on %s: %w", flag, address, cause)
	}
	return l, nil
}

// loopbackForPort adds the host 127.0.0.1 to a port alone, such as 8080. Unlike with
// loopbackByDefault, :8080 stays an address on all interfaces.
func loopbackForPort(address string) string {
	if _, err := strconv.ParseUint(address, 10, 16); err != nil {
		return address
	}
	return net.JoinHostPort("127.0.0.1", address)
}

// loopbackByDefault adds the host 127.0.0.1 to an address without a host, such as 8080
// or :8080.
func loopbackByDefault(address string) string {
	port := strings.TrimPrefix(address, ":")
	if strings.ContainsAny(port, ":.") {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// urlOf returns the URL of a listener on this machine.
func urlOf(l net.Listener) string {
	address, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	host := address.Addr().String()
	if address.Addr().IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(address.Port()))
}

// isLocal reports whether an address to listen on is on the loopback interface.
func isLocal(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, _ := netip.ParseAddr(host)
	return host == "localhost" || ip.IsLoopback()
}

func isLoopback(l net.Listener) bool {
	address, _ := netip.ParseAddrPort(l.Addr().String())
	return address.Addr().IsLoopback()
}
