package httpapi

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// authenticate identifies the caller and checks that they may use the operation,
// before anything else of the request is read. The objects that a restricted grant
// covers are up to the operation. It returns the request's context with the caller.
func (h *Handler) authenticate(r *http.Request, spec api.Spec) (context.Context, error) {
	ctx := r.Context()
	who, err := h.identify(r)
	if err == nil {
		who, err = h.Auth.Enter(ctx, who, api.CanonicalID(r.PathValue("account_id")), spec)
	}
	if keyed := spec.Keyed() && r.Header.Get(api.IdempotencyKeyHeader) != ""; err == nil && !keyed {
		err = who.MayChange(spec) // the response to a keyed request may be a replay
	}
	progressOf(ctx).arrival = h.Now()
	return auth.WithCaller(ctx, who), err
}

// identify returns the caller that a request's credential names. It evaluates the
// credential once for each request.
func (h *Handler) identify(r *http.Request) (auth.Caller, error) {
	p := progressOf(r.Context())
	if p.identified == nil {
		who, err := h.Auth.Identify(r.Context(), r.Header.Values("Authorization"))
		p.identified = func() (auth.Caller, error) { return who, err }
	}
	return p.identified()
}
