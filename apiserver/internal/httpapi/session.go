package httpapi

import (
	"context"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
)

// SignIn is apiserver.Service.SignIn.
func (h *Handler) SignIn(ctx context.Context, token, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = h.Rules.Auth.SealSession(ctx, token, lifetime)
	return sealed, h.signInError(ctx, err, remoteAddr)
}

// SignInUser is apiserver.Service.SignInUser.
func (h *Handler) SignInUser(ctx context.Context, accessToken, accountID, remoteAddr string, lifetime time.Duration) (sealed string, err error) {
	sealed, err = h.Rules.Auth.SealUserSession(ctx, accessToken, accountID, lifetime)
	return sealed, h.signInError(ctx, err, remoteAddr)
}

// AccessOf is apiserver.Service.AccessOf.
func (h *Handler) AccessOf(ctx context.Context, accessToken, remoteAddr string) (auth.UserAccess, error) {
	access, err := h.Rules.Auth.AccessOf(ctx, accessToken)
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

// SignOut is apiserver.Service.SignOut.
func (h *Handler) SignOut(ctx context.Context, sealed string) error {
	if err := h.Rules.Auth.EndSession(ctx, sealed); err != nil {
		return h.responseTo(ctx, err, "sign-out failed")
	}
	return nil
}

// Session is apiserver.Service.Session.
func (h *Handler) Session(ctx context.Context, sealed string) (auth.Session, error) {
	s, err := h.Rules.Auth.OpenSession(ctx, sealed)
	if err != nil {
		return auth.Session{}, h.responseTo(ctx, err, "session not opened")
	}
	return s, nil
}
