package oauth

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

const (
	// fetchTimeout bounds how long a request waits for the issuer.
	fetchTimeout = 5 * time.Second
	// fetchEvery and fetchBurst bound how often the issuer is asked, whatever
	// tokens come and whether or not it answers.
	fetchEvery = 2 * time.Second
	fetchBurst = 10
	// freshFor is after what time the issuer is asked again: a key that it has
	// withdrawn opens nothing any more.
	freshFor = 10 * time.Minute
	// trustedFor is how long keys hold while the issuer is down. Nobody gets a
	// token from it then, and those that there are rarely live longer.
	trustedFor = time.Hour
	// pauseAfterFailure is how long known keys are used before the issuer, once it
	// has failed, is asked whether they are still its.
	pauseAfterFailure = 30 * time.Second
)

// keySet is the issuer's keys. The one of go-oidc never forgets a key that was
// withdrawn, and asks the issuer for every token with a bad signature.
type keySet struct {
	source source
	clock  func() time.Time
	log    *slog.Logger

	mu      sync.Mutex
	limiter *rate.Limiter
	keys    []jose.JSONWebKey
	// dueAt is when the issuer is asked again, and trustedUntil when keys no
	// longer hold.
	dueAt, trustedUntil time.Time
	// failed says that the issuer did not answer the last time.
	failed bool
	// fetching is closed when the fetch under way has ended; nil: there is none.
	fetching chan struct{}
}

func newKeySet(o Options) *keySet {
	return &keySet{
		source: newSource(o.Issuer, o.Transport), clock: o.Clock, log: o.Logger,
		limiter: rate.NewLimiter(rate.Every(fetchEvery), fetchBurst),
	}
}

// verify returns the payload of a token that one of the keys has signed. The
// issuer is asked for a key that is not known, as it may be new (OpenID Connect
// Core, section 10.1.1).
func (k *keySet) verify(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, errMalformed
	}
	keys, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	payload, known := verifyWith(keys, jws)
	if payload == nil && !known {
		if keys, err = k.refresh(ctx); err != nil {
			return nil, err
		}
		payload, _ = verifyWith(keys, jws)
	}
	if payload == nil {
		return nil, errSignature
	}
	return payload, nil
}

// verifyWith returns the payload if one of the keys has signed it; known says
// that the key which the token names is among them.
func verifyWith(keys []jose.JSONWebKey, jws *jose.JSONWebSignature) (payload []byte, known bool) {
	header := jws.Signatures[0].Protected
	for _, key := range keys {
		if header.KeyID != "" && header.KeyID != key.KeyID {
			continue
		}
		known = known || header.KeyID != ""
		if key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue // a key has one use (RFC 8725, section 3.1)
		}
		if payload, err := jws.Verify(key.Key); err == nil {
			return payload, true
		}
	}
	return nil, known
}

// current returns the keys that hold now.
func (k *keySet) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	now, known := k.clock(), k.keys
	due, trusted := !now.Before(k.dueAt), now.Before(k.trustedUntil)
	k.mu.Unlock()
	if trusted && !due {
		return known, nil
	}
	keys, err := k.refresh(ctx)
	if err != nil && trusted {
		return known, nil
	}
	return keys, err
}

// refresh asks the issuer for its keys, or waits for one that does. Where the
// issuer must not be asked again so soon, it returns what the last time told.
func (k *keySet) refresh(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	if k.fetching == nil && k.limiter.AllowN(k.clock(), 1) {
		k.fetching = make(chan struct{})
		go k.fetch(k.fetching)
	}
	fetching := k.fetching
	k.mu.Unlock()
	if fetching != nil {
		select {
		case <-fetching:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed {
		return nil, &apiserver.IssuerUnavailableError{RetryAfter: fetchEvery}
	}
	return k.keys, nil
}

// fetch asks the issuer, for all who wait: that one of them goes away does not
// end it.
func (k *keySet) fetch(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	keys, err := k.source.fetch(ctx)
	k.note(keys, err)
	close(done)
}

// note keeps the outcome of a fetch.
func (k *keySet) note(keys []jose.JSONWebKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, failedBefore := k.clock(), k.failed
	k.fetching, k.failed = nil, err != nil
	switch {
	case err != nil:
		k.dueAt = now.Add(pauseAfterFailure)
		k.log.Warn("the OAuth issuer's keys can't be had", "issuer", k.source.issuer, "error", clip(err.Error()))
	case failedBefore:
		k.log.Info("the OAuth issuer's keys can be had again", "issuer", k.source.issuer)
		fallthrough
	default:
		k.keys, k.dueAt, k.trustedUntil = keys, now.Add(freshFor), now.Add(trustedFor)
	}
}

// clip shortens what an issuer may have written.
func clip(s string) string {
	const limit = 300
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
