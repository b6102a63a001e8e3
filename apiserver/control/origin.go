package control

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ownOrigin keeps web pages in a browser on this machine from steering the
// service: those of another origin, and those whose name has been pointed to
// this machine meanwhile (DNS rebinding). A listener that other machines reach
// has whatever name they use.
func ownOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, &httpError{http.StatusForbidden, errors.New("a page of another origin may not steer the service")})
	}))
	next = protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if onLoopback(r) && !namesLoopback(r.Host) {
			refuse(w, &httpError{http.StatusForbidden, errors.New("on this machine alone the service is steered by its address or as localhost")})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// onLoopback reports whether a request has come to an address that only this
// machine reaches.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	address, err := netip.ParseAddrPort(local.String())
	return err == nil && address.Addr().Unmap().IsLoopback()
}

// namesLoopback reports whether a Host is an address or localhost.
func namesLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	_, err = netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
