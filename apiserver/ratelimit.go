package apiserver

import (
	"net/http"
	"net/netip"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// The headers of every response if there is a limit: the bucket's size, what is
// left in it, and in how many seconds it is full again.
const (
	rateLimitHeader          = "RateLimit-Limit"
	rateLimitRemainingHeader = "RateLimit-Remaining"
	rateLimitResetHeader     = "RateLimit-Reset"
)

// limited takes a request out of the bucket of its credential. A request without
// a valid one counts for the address that it comes from. Health checks are free,
// and so are the pages that people open: behind a proxy everybody has its address.
func (s *Service) limited(w http.ResponseWriter, r *http.Request) *api.Error {
	if p := progressOf(r.Context()); s.limiter == nil || p.Operation.ID == "" && p.Route != "" {
		return nil
	}
	key := "address " + network(r.RemoteAddr)
	if who, err := s.identify(r.Context(), r.Header.Values("Authorization")); err == nil {
		key = who.Credential()
	}
	u := s.limiter.Take(key, s.now())
	h := w.Header()
	h.Set(rateLimitHeader, strconv.Itoa(s.limiter.Requests))
	h.Set(rateLimitRemainingHeader, strconv.Itoa(u.Remaining))
	h.Set(rateLimitResetHeader, strconv.Itoa(u.Reset))
	if u.Allowed {
		return nil
	}
	return api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
		"more than %d requests in %s; try again in %d s", s.limiter.Requests, s.limiter.Per, u.Wait).RetryAfter(u.Wait)
}

// network is the part of an address that one customer has: all of an IPv4
// address, and the first half of an IPv6 address (RFC 6177).
func network(remoteAddr string) string {
	a, err := netip.ParseAddrPort(remoteAddr)
	if err != nil {
		return remoteAddr
	}
	address := a.Addr().Unmap()
	if address.Is6() {
		if p, err := address.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return address.String()
}
