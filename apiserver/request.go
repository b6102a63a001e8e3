package apiserver

import (
	"context"
	"net/http"
	"regexp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// requestIDHeader names a request in the answer, in the log and in error
// messages.
const requestIDHeader = "X-Request-Id"

var saneRequestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// Request is what is known of a request before it is answered.
type Request struct {
	// ID is in the answer's X-Request-Id, in the log and in the audit log.
	ID string
	// Operation is where the request leads to; its ID is empty for a page, a
	// health check, and a path that does not exist.
	Operation api.Spec
}

// RequestOf returns the request that a context belongs to, for an
// Options.Middleware.
func RequestOf(ctx context.Context) Request { return progressOf(ctx).Request }

// progress is what the steps on the way of a request tell each other. One
// goroutine at a time uses it.
type progress struct {
	Request
	// pattern is the route, and allow what other methods it has where it is none.
	pattern, allow string
	// answerKey is under which key the answer is kept, if it is.
	answerKey []byte
}

type progressKey struct{}

func progressOf(ctx context.Context) *progress {
	if p, ok := ctx.Value(progressKey{}).(*progress); ok {
		return p
	}
	return &progress{}
}

func requestID(ctx context.Context) string { return progressOf(ctx).ID }

// begin names a request and finds out where it leads to.
func (s *Service) begin(r *http.Request) *progress {
	p := &progress{Request: Request{ID: r.Header.Get(requestIDHeader)}}
	if !saneRequestID.MatchString(p.ID) {
		p.ID = s.newID()
	}
	p.pattern, p.allow = s.mux.match(r)
	p.Operation = s.mux.operations[p.pattern]
	return p
}
