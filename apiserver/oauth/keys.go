package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

const (
	// fetchTimeout limits how long a request waits for the issuer.
	fetchTimeout = 5 * time.Second
	// fetchEvery and fetchBurst limit the rate of fetches, independent of tokens and
	// results.
	fetchEvery = 2 * time.Second
	fetchBurst = 10
	// freshFor is the interval of fetches, after which a withdrawn key is rejected.
	freshFor = 10 * time.Minute
	// trustedFor is how long keys are used while the issuer is unavailable. It issues
	// no tokens during an outage, and existing ones rarely live longer.
	trustedFor = time.Hour
	// retryAfterFailure is the time between a failed fetch and the next one, in which
	// known keys are used.
	retryAfterFailure = 30 * time.Second
)

// keySet caches the issuer's keys and endpoints. The one of go-oidc never removes a withdrawn
// key, and fetches the keys again for every token with an invalid signature.
type keySet struct {
	issuer string
	client *http.Client
	clock  func() time.Time
	log    *slog.Logger

	fetches singleflight.Group
	limiter *rate.Limiter

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	endpoint oauth2.Endpoint
	// dueAt is the time of the next fetch, and trustedUntil the end of the keys' use.
	dueAt, trustedUntil time.Time
	// failed reports whether the last fetch failed.
	failed bool
}

func newKeySet(o Options) *keySet {
	return &keySet{
		issuer: o.Issuer, clock: o.Clock, log: o.Logger,
		client: &http.Client{
			Transport: limitedTransport{o.Transport},
			// Don't follow redirects, which could lead to another site.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		limiter: rate.NewLimiter(rate.Every(fetchEvery), fetchBurst),
	}
}

// verify returns an error unless a token is signed by one of the keys. It fetches the keys if the
// token's key is unknown, because it may be new (OpenID Connect Core, section 10.1.1).
func (k *keySet) verify(ctx context.Context, t *jwt.JSONWebToken) error {
	keys, err := k.current(ctx)
	if err != nil {
		return err
	}
	signed, known := verifyWith(keys, t)
	if !signed && !known {
		if keys, err = k.refresh(ctx); err != nil {
			return err
		}
		signed, _ = verifyWith(keys, t)
	}
	if !signed {
		return errSignature
	}
	return nil
}

// verifyWith reports whether one of the keys has signed a token, and whether the key that the
// token names is among them.
func verifyWith(keys []jose.JSONWebKey, t *jwt.JSONWebToken) (signed, known bool) {
	header := t.Headers[0]
	for _, key := range keys {
		if header.KeyID != "" && header.KeyID != key.KeyID {
			continue
		}
		known = known || header.KeyID != ""
		if key.Algorithm != "" && key.Algorithm != header.Algorithm {
			continue // a key is for one algorithm (RFC 8725, section 3.1)
		}
		if t.Claims(key.Key) == nil {
			return true, true
		}
	}
	return false, known
}

// current returns the valid keys, and fetches them if they are due.
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

// refresh fetches the keys, or waits for the fetch in flight. If the rate limit
// prevents a fetch, it returns the result of the last one.
func (k *keySet) refresh(ctx context.Context) ([]jose.JSONWebKey, error) {
	fetched := k.fetches.DoChan("", func() (any, error) {
		if k.limiter.AllowN(k.clock(), 1) {
			k.fetch()
		}
		return nil, nil
	})
	select {
	case <-fetched:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed {
		return nil, &identity.IssuerUnavailableError{RetryAfter: fetchEvery}
	}
	return k.keys, nil
}

// fetch fetches the keys for all waiting requests. It does not end when one of them is
// cancelled.
func (k *keySet) fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	keys, endpoint, err := k.read(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	now, failedBefore := k.clock(), k.failed
	if k.failed = err != nil; k.failed {
		k.dueAt = now.Add(retryAfterFailure)
		k.log.Warn("the OAuth issuer's keys can't be fetched", "issuer", k.issuer, "error", fmt.Sprintf("%.300s", err))
		return
	}
	if failedBefore {
		k.log.Info("the OAuth issuer's keys can be fetched again", "issuer", k.issuer)
	}
	k.keys, k.endpoint, k.dueAt, k.trustedUntil = keys, endpoint, now.Add(freshFor), now.Add(trustedFor)
}
