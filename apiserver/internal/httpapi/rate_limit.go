package httpapi

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

// limit takes a request out of the bucket of its credential, and returns a 429 if it is
// empty. A request without a valid credential counts for its remote address. Health
// checks and pages are not limited: behind a proxy everybody has the same address.
func (h *Handler) limit(w http.ResponseWriter, r *http.Request) *api.Error {
	if p := progressOf(r.Context()); h.limiter == nil || p.Operation.ID == "" && p.Route != "" {
		return nil
	}
	key := "address " + network(r.RemoteAddr)
	if who, err := h.identify(r.Context(), r.Header.Values("Authorization")); err == nil {
		key = who.Credential()
	}
	u := h.limiter.Take(key, h.now())
	header := w.Header()
	header.Set(rateLimitHeader, strconv.Itoa(h.limiter.Requests))
	header.Set(rateLimitRemainingHeader, strconv.Itoa(u.Remaining))
	header.Set(rateLimitResetHeader, strconv.Itoa(u.Reset))
	if u.Allowed {
		return nil
	}
	return api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
		"more than %d requests in %s; try again in %d s", h.limiter.Requests, h.limiter.Per, u.Wait).RetryAfter(u.Wait)
}

// network returns the part of an address that one customer has: all of an IPv4
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
