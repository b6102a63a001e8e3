package httpapi

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// Bind returns a handler that decodes and validates the requests of one operation, and
// calls fn with the valid ones. It does not authenticate.
func Bind[Req, Resp any](op api.Operation[Req, Resp], fn func(*Req)) http.Handler {
	mux := http.NewServeMux()
	h := &Handler{bodies: newBodyBudget(defaultBodyMemory)}
	a := newAPI(mux)
	a.UseMiddleware(h.receive, withRuleErrors)
	register(a, op.Spec, func(_ context.Context, in *Req) (*reply[Resp], error) {
		fn(in)
		return &reply[Resp]{}, nil
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), progressKey{}, &progress{})
		mux.ServeHTTP(w, r.WithContext(auth.WithCaller(ctx, auth.Owner("11111111-2222-4333-8444-555555555555"))))
	})
}
