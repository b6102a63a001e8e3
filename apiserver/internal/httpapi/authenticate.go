package httpapi

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// authenticate identifies the caller and checks that they may use the operation,
// before anything else of the request is read. The objects that a restricted grant
// covers are up to the operation. It returns the request's context with the caller.
func (h *Handler) authenticate(r *http.Request, spec api.Spec) (context.Context, error) {
	ctx := r.Context()
	who, err := h.authorized(ctx, r.Header.Values("Authorization"), api.CanonicalID(r.PathValue("account_id")), spec)
	if keyed := spec.Keyed() && r.Header.Get(api.IdempotencyKeyHeader) != ""; err == nil && !keyed {
		err = who.MayChange(spec) // the response to a keyed request may be a replay
	}
	return api.WithArrival(auth.WithCaller(ctx, who), h.now()), err
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
