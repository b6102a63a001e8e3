package simulate

import (
	"net/http"
	"strconv"
	"strings"
)

// fault is a kind of fault of a request.
type fault struct {
	name string
	// named restricts the fault to histories that name it.
	named bool
	// inject handles a request with the fault.
	inject func(*exchange)
}

// faultNamed returns the fault with a name, or nil.
func faultNamed(name string) *fault {
	for i := range faults {
		if faults[i].name == name {
			return &faults[i]
		}
	}
	return nil
}

const gatewayPage = "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"

var faults = []fault{
	{name: "reset-before", inject: func(x *exchange) { x.reset() }},
	{name: "reset-after", inject: func(x *exchange) {
		x.serve(x.random.IntN(2) == 0)
		x.reset()
	}},
	{name: "500", inject: func(x *exchange) {
		x.maybeProcess()
		x.page(http.StatusInternalServerError, "application/json", `{"detail":[{"loc":[],"msg":"Internal error","type":"internal_error"}]}`)
	}},
	{name: "502", inject: func(x *exchange) {
		x.maybeProcess()
		x.page(http.StatusBadGateway, "text/html", gatewayPage)
	}},
	{name: "503", inject: func(x *exchange) {
		x.busy(http.StatusServiceUnavailable, "service_unavailable")
	}},
	{name: "429", inject: func(x *exchange) {
		x.busy(http.StatusTooManyRequests, "rate_limited")
	}},
	{name: "late", named: true, inject: func(x *exchange) {
		if x.canBeLate() {
			x.late()
		} else {
			x.process()
		}
		x.reset()
	}},
	{name: "truncated", inject: func(x *exchange) {
		resp := x.process()
		whole := resp.Body.Len()
		if whole == 0 {
			x.reset()
		}
		resp.Header().Set("Content-Length", strconv.Itoa(whole))
		resp.Body.Truncate(x.random.IntN(whole))
		x.ResponseRecorder = resp
		x.reset()
	}},
	{name: "html", inject: func(x *exchange) {
		x.maybeProcess()
		statuses := []int{http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusBadGateway, http.StatusServiceUnavailable}
		x.page(statuses[x.random.IntN(len(statuses))], "text/html; charset=utf-8", "<!DOCTYPE html><html><body><h1>Sign in to the network</h1></body></html>")
	}},
	{name: "empty", inject: func(x *exchange) {
		if x.r.Method == http.MethodDelete {
			x.process() // nobody could tell a forged 204 from the API's own
		} else {
			x.maybeProcess()
		}
		x.WriteHeader([]int{http.StatusOK, http.StatusNoContent}[x.random.IntN(2)])
	}},
	{name: "redirect", inject: func(x *exchange) {
		x.Header().Set("Location", "https://elsewhere.example/sign-in")
		statuses := []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
		x.WriteHeader(statuses[x.random.IntN(len(statuses))])
	}},
	{name: "intermediary", inject: func(x *exchange) {
		statuses := []int{http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusNetworkAuthenticationRequired}
		status := statuses[x.random.IntN(len(statuses))]
		if status == http.StatusRequestTimeout || status == http.StatusNetworkAuthenticationRequired {
			x.maybeProcess() // the two others mean that nobody processed it
		}
		x.page(status, "text/plain", http.StatusText(status))
	}},
	{name: "duplicate", inject: func(x *exchange) {
		first := x.process()
		if x.ResponseRecorder = first; x.isUnrecognizable() {
			return
		}
		second := x.process()
		// Without keys, nobody could detect that the second response is not the only one.
		if x.keys && x.random.IntN(2) == 0 {
			x.ResponseRecorder = second
		}
	}},
}

// canBeLate reports whether a request may be processed after the client gave up. Without keys,
// nobody could detect such a create, except a purchase: a domain belongs to one owner.
func (x *exchange) canBeLate() bool {
	return x.keys || x.r.Method != http.MethodPost || strings.HasSuffix(x.r.URL.Path, "/domains/purchase")
}

// isUnrecognizable reports whether the service can't recognize a second copy of a request: a
// claim takes any address, and names of service accounts are not unique. Nobody could detect
// the object that a copy creates, because its response goes nowhere.
func (x *exchange) isUnrecognizable() bool {
	is := func(path string) bool { return strings.HasSuffix(x.r.URL.Path, path) }
	return !x.keys && x.r.Method == http.MethodPost && (is("/service-accounts") || is("/dedicated-ips/claim"))
}

// maybeProcess passes every second request on to the service.
func (x *exchange) maybeProcess() {
	if x.random.IntN(2) == 0 {
		x.process()
	}
}

// busy sends an error that asks the client to come back later.
func (x *exchange) busy(status int, problem string) {
	x.Header().Set("Retry-After", strconv.Itoa(1+x.random.IntN(10)))
	x.page(status, "application/json", `{"detail":[{"loc":[],"msg":"Try again later","type":"`+problem+`"}]}`)
}
