package httpapi

import "context"

// SignInError returns the *api.Error for a failed attempt to sign in, which counts against the
// limit of the remote address like a request without a valid credential, and nil for nil.
func (h *Handler) SignInError(ctx context.Context, err error, remoteAddr string) error {
	if err == nil {
		return nil
	}
	if limited := h.LimitSignIn(remoteAddr); limited != nil {
		return limited
	}
	return h.responseTo(ctx, err, "sign-in failed")
}

// LimitSignIn is apiserver.Service.LimitSignIn.
func (h *Handler) LimitSignIn(remoteAddr string) error {
	if h.Limiter == nil {
		return nil
	}
	if u := h.Limiter.Take("address "+network(remoteAddr), h.Rules.Now()); !u.Allowed {
		return h.rateLimited(u)
	}
	return nil
}

// SessionError returns the *api.Error for a session that can't be opened or ended, and nil for nil.
func (h *Handler) SessionError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return h.responseTo(ctx, err, "session failed")
}
