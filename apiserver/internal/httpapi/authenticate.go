package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// authenticate identifies the caller and checks that they may use the operation,
// before anything else of the request is read. The objects that a restricted grant
// covers are up to the operation.
func (h *Handler) authenticate(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	spec := specOf(ctx)
	who, err := h.authorized(ctx.Context(), r.Header.Values("Authorization"), api.CanonicalID(ctx.Param("account_id")), spec)
	if keyed := spec.Keyed() && ctx.Header(api.IdempotencyKeyHeader) != ""; err == nil && !keyed {
		err = who.MayChange(spec) // the response to a keyed request may be a replay
	}
	if err != nil {
		h.responseTo(ctx.Context(), err, "authentication failed").Write(w)
		return
	}
	next(huma.WithContext(ctx, api.WithArrival(auth.WithCaller(ctx.Context(), who), h.now())))
}

// authorized returns the caller of a request with their grants in the account of its
// path.
func (h *Handler) authorized(ctx context.Context, authorization []string, accountID string, spec api.Spec) (auth.Caller, error) {
	identified, err := h.identify(ctx, authorization)
	if err != nil {
		return auth.Caller{}, err
	}
	if identified, err = identified.Enter(accountID, spec); err != nil {
		return auth.Caller{}, err
	}
	var who auth.Caller
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		who, err = h.auth.Authorize(r, identified, spec)
		return err
	})
	return who, err
}

// credential is the caller that a credential names, or why it names none.
type credential struct {
	caller auth.Caller
	err    error
}

// identify returns the caller that a request's credential names. It evaluates the
// credential once for each request.
func (h *Handler) identify(ctx context.Context, authorization []string) (auth.Caller, error) {
	p := progressOf(ctx)
	if p.credential == nil {
		who, err := h.auth.Identify(ctx, authorization)
		p.credential = &credential{who, err}
	}
	return p.credential.caller, p.credential.err
}
