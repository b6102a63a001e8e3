package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
)

// authenticate returns the caller of a request, or a 401 or 403, before the rest of the request is
// read. Package auth describes the path of a request.
func (h *Handler) authenticate(r *http.Request, spec api.Spec) (auth.Caller, error) {
	p := progressOf(r.Context())
	defer func() { p.arrival = h.Rules.Now() }()
	who, err := h.identify(r)
	if err != nil {
		return auth.Caller{}, err
	}
	if who.AccountID == accountOf(r) {
		p.Subject = subjectOf(who) // also of a refused request
	}
	if who, err = who.In(accountOf(r), spec); err != nil {
		return auth.Caller{}, err
	}
	if who, err = h.Rules.Auth.Preauthorize(r.Context(), who, spec); err != nil {
		return auth.Caller{}, err
	}
	p.Subject, p.subjectDetails = subjectOf(who), who.Details
	return who, mayChange(r, who, spec)
}

// mayChange returns a 403 if the request would change a cancelled account. A request with a key is
// allowed, because it may be a replay.
func mayChange(r *http.Request, who auth.Caller, spec api.Spec) error {
	if r.Header.Get(api.IdempotencyKeyHeader) != "" && spec.Keyed() {
		return nil
	}
	return who.MayChange(spec)
}

func accountOf(r *http.Request) string { return api.CanonicalID(r.PathValue("account_id")) }

// identify returns the caller of a request. The rate limit and the operation share the result.
func (h *Handler) identify(r *http.Request) (auth.Caller, error) {
	p := progressOf(r.Context())
	if p.identified == nil {
		who, err := h.Rules.Auth.Identify(r.Context(), r.Header.Values("Authorization"))
		p.identified = func() (auth.Caller, error) { return who, err }
	}
	return p.identified()
}

// SignInError returns the *api.Error for a failed sign-in, nil for nil. The sign-in counts against
// the limit of the remote address, like a request without a valid credential.
func (h *Handler) SignInError(ctx context.Context, err error, remoteAddr string) error {
	if err == nil {
		return nil
	}
	if limited := h.LimitSignIn(remoteAddr); limited != nil {
		return limited
	}
	return h.responseTo(ctx, err, "sign-in failed")
}

// LimitSignIn implements apiserver.Service.LimitSignIn.
func (h *Handler) LimitSignIn(remoteAddr string) error {
	if h.Limiter == nil {
		return nil
	}
	if u := h.Limiter.Take("address "+network(remoteAddr), h.Rules.Now()); !u.Allowed {
		return h.rateLimited(u)
	}
	return nil
}

// maxIssuerCalls limits the calls of CallIssuer in flight. Further calls wait.
const maxIssuerCalls = 32

// defaultIssuerFailures limits the failed calls for one remote address that don't wait. It is more than
// maxIssuerCalls, so that any number of people can sign in at once through one proxy.
var defaultIssuerFailures = ratelimit.Limit{Requests: 60, Per: time.Minute}

// issuerWait is how long a call waits for calls in flight, and at most for its turn after failures.
const issuerWait = 10 * time.Second

// issuerPace spaces the calls of an address with too many failed ones. They are not refused, because a stranger may
// share the address of a proxy with everybody else.
var issuerPace = ratelimit.Limit{Requests: 50, Per: issuerWait}

// CallIssuer implements apiserver.Service.CallIssuer.
func (h *Handler) CallIssuer(ctx context.Context, remoteAddr string, call func() error) error {
	if err := h.beginIssuerCall(ctx); err != nil {
		return err
	}
	key := "issuer " + network(remoteAddr) // other requests don't count
	counted := h.issuerFailures.Take(key, h.Rules.Now()).Allowed
	if !counted {
		h.issuerCalls.Release(1) // while this call waits
		if err := h.waitForTurn(ctx, key); err != nil {
			return err
		}
		if err := h.beginIssuerCall(ctx); err != nil {
			return err
		}
	}
	defer h.issuerCalls.Release(1)
	err := call()
	if err == nil && counted {
		h.issuerFailures.Return(key)
	}
	return err
}

func (h *Handler) beginIssuerCall(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, issuerWait)
	defer cancel()
	if h.issuerCalls.Acquire(wait, 1) != nil {
		return api.Unavailable("too many people sign in at the moment; try again")
	}
	return nil
}

// waitForTurn waits until the calls of the same address that came before have had their turns.
func (h *Handler) waitForTurn(ctx context.Context, key string) error {
	u := h.issuerTurns.Take(key, h.Rules.Now())
	if !u.Allowed {
		return api.NewError(http.StatusTooManyRequests, api.TypeRateLimited, "too many sign-ins from your network have failed; try again in %d s", u.Wait).RetryAfter(u.Wait)
	}
	before := issuerPace.Requests - 1 - u.Remaining
	select {
	case <-time.After(time.Duration(before) * issuerPace.Per / time.Duration(issuerPace.Requests)):
		return nil
	case <-ctx.Done():
		return api.Cancelled()
	}
}

// ResetLimits forgets all requests and calls that count against a limit of this process.
func (h *Handler) ResetLimits() {
	h.Limiter.Reset()
	h.issuerFailures.Reset()
	h.issuerTurns.Reset()
}

// SessionError returns the *api.Error for a failure to open or end a session, nil for nil.
func (h *Handler) SessionError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return h.responseTo(ctx, err, "session failed")
}
