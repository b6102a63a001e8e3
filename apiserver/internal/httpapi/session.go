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
	sealed, err = h.Auth.SealSession(ctx, token, lifetime)
	return sealed, h.signInError(ctx, err, remoteAddr)
}

// SignInUser is SignIn for the holder of an access token, in one of the accounts that
// AccessOf returns.
func (h *Handler) SignInUser(ctx context.Context, accessToken, accountID, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = h.Auth.SealUserSession(ctx, accessToken, accountID, lifetime)
	return sealed, h.signInError(ctx, err, remoteAddr)
}

// AccessOf returns where the user of an access token may sign in. An error is an *api.Error.
func (h *Handler) AccessOf(ctx context.Context, accessToken, remoteAddr string) (auth.UserAccess, error) {
	access, err := h.Auth.AccessOf(ctx, accessToken)
	return access, h.signInError(ctx, err, remoteAddr)
}

// signInError returns the *api.Error for a failed attempt to sign in.
func (h *Handler) signInError(ctx context.Context, err error, remoteAddr string) error {
	if err == nil {
		return nil
	}
	if limited := h.LimitSignIn(remoteAddr); limited != nil {
		return limited
	}
	return h.responseTo(ctx, err, "sign-in failed")
}

// LimitSignIn counts an attempt to sign in against the limit of the remote address. An error
// is an *api.Error, a 429.
func (h *Handler) LimitSignIn(remoteAddr string) error {
	if h.Limiter == nil {
		return nil
	}
	if u := h.Limiter.Take("address "+network(remoteAddr), h.Now()); !u.Allowed {
		return h.rateLimited(u)
	}
	return nil
}

// Session returns the session that SignIn or SignInUser has sealed. An error is an
// *api.Error.
func (h *Handler) Session(ctx context.Context, sealed string) (auth.Session, error) {
	s, err := h.Auth.OpenSession(ctx, sealed)
	if err != nil {
		return auth.Session{}, h.responseTo(ctx, err, "session not opened")
	}
	return s, nil
}
