package httpapi

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// authenticate identifies the caller and checks that they may use the operation,
// before anything else of the request is read. The objects that a restricted grant
// covers are up to the operation.
//
// The caller may only be presumed (auth.Presume): the operation confirms it, and confirm
// does before an error is returned.
func (h *Handler) authenticate(r *http.Request, spec api.Spec) (auth.Caller, error) {
	p := progressOf(r.Context())
	defer func() { p.arrival = h.Now() }()
	// Nobody may send a large body on a presumption.
	if p.identified == nil && r.ContentLength >= 0 && r.ContentLength <= freeBody {
		who, ok := h.Auth.Presume(r.Context(), r.Header.Values("Authorization"), accountOf(r), spec)
		if ok && mayChange(r, who, spec) == nil {
			p.presumed, p.Subject = true, subjectOf(who)
			return who, nil
		}
	}
	who, err := h.enter(r, spec)
	if err == nil {
		p.Subject = subjectOf(who)
	} else if refused, unknown := h.identify(r); unknown == nil && refused.AccountID == accountOf(r) {
		p.Subject = subjectOf(refused)
	}
	return who, err
}

// confirm returns the 401 or 403 of a request whose caller was wrongly presumed.
func (h *Handler) confirm(r *http.Request, spec api.Spec) error {
	if !progressOf(r.Context()).presumed {
		return nil
	}
	// The context may have ended, because net/http takes a late body for a disconnect. The
	// response to that is the operation's.
	_, err := h.enter(r.WithContext(context.WithoutCancel(r.Context())), spec)
	return err
}

// enter is authenticate without presuming anything.
func (h *Handler) enter(r *http.Request, spec api.Spec) (auth.Caller, error) {
	who, err := h.identify(r)
	if err == nil {
		who, err = h.Auth.Enter(r.Context(), who, accountOf(r), spec)
	}
	if err == nil {
		err = mayChange(r, who, spec)
	}
	return who, err
}

func accountOf(r *http.Request) string { return api.CanonicalID(r.PathValue("account_id")) }

// mayChange returns a 403 if the operation would change a cancelled account.
func mayChange(r *http.Request, who auth.Caller, spec api.Spec) error {
	if r.Header.Get(api.IdempotencyKeyHeader) != "" && spec.Keyed() {
		return nil // the response may be a replay
	}
	return who.MayChange(spec)
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
