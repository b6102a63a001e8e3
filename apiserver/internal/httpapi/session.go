package httpapi

import (
	"context"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// SignIn returns a sealed session for the holder of a service account's token. A failed
// attempt counts against the limit of the remote address, like a request without a valid
// credential. An error is an *api.Error.
func (h *Handler) SignIn(ctx context.Context, token, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	if sealed, err = h.Auth.SealSession(ctx, token, lifetime); err == nil {
		return sealed, nil
	}
	if h.Limiter != nil {
		if u := h.Limiter.TakeLocally("address "+network(remoteAddr), h.Now()); !u.Allowed {
			return "", h.rateLimited(u)
		}
	}
	return "", h.responseTo(ctx, err, "sign-in failed")
}

// Session returns the session that SignIn has sealed. An error is an *api.Error.
func (h *Handler) Session(ctx context.Context, sealed string) (auth.Session, error) {
	s, err := h.Auth.OpenSession(ctx, sealed)
	if err != nil {
		return auth.Session{}, h.responseTo(ctx, err, "session not opened")
	}
	return s, nil
}
