package oauth

import (
	"context"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

const (
	// fetchTimeout limits how long a request waits for the issuer.
	fetchTimeout = 5 * time.Second
	// fetchEvery and fetchBurst limit the rate of fetches, regardless of tokens and results.
	fetchEvery = 2 * time.Second
	fetchBurst = 10
	// freshFor is the interval of fetches. A withdrawn key is rejected after it.
	freshFor = 10 * time.Minute
	// trustedFor is how long keys are used while the issuer is unavailable. The issuer signs no
	// tokens during an outage, and earlier tokens rarely live longer.
	trustedFor = time.Hour
	// retryAfterFailure is the time between a failed fetch and the next fetch. Known keys are used
	// meanwhile.
	retryAfterFailure = 30 * time.Second
)

// This file caches the issuer's keys and endpoints. The cache of go-oidc never removes a withdrawn
// key, and fetches the keys again for every token with an invalid signature.

// verify returns an error unless one of the keys signed the token. It fetches the keys if the
// token's key is unknown, because the key may be new (OpenID Connect Core, section 10.1.1).
func (v *Verifier) verify(ctx context.Context, t *jwt.JSONWebToken) error {
	keys, err := v.current(ctx)
	signed, known := verifyWith(keys, t)
	if err == nil && !signed && !known {
		keys, err = v.refresh(ctx)
		signed, _ = verifyWith(keys, t)
	}
	if err == nil && !signed {
		err = errSignature
	}
	return err
}

// verifyWith reports whether one of the keys signed the token, and whether they contain the key
// that the token names.
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

// current returns the valid keys. It fetches them if they are due.
func (v *Verifier) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	v.mu.Lock()
	now, known := v.options.Clock(), v.keys
	due, trusted := !now.Before(v.dueAt), now.Before(v.trustedUntil)
	v.mu.Unlock()
	if trusted && !due {
		return known, nil
	}
	keys, err := v.refresh(ctx)
	if err != nil && trusted {
		return known, nil
	}
	return keys, err
}

// refresh fetches the keys, or waits for the fetch in flight. If the rate limit prevents a fetch,
// it returns the result of the last fetch.
func (v *Verifier) refresh(ctx context.Context) ([]jose.JSONWebKey, error) {
	fetched := v.fetches.DoChan("", func() (any, error) {
		if v.limiter.AllowN(v.options.Clock(), 1) {
			v.fetch()
		}
		return nil, nil
	})
	select {
	case <-fetched:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failed {
		return nil, &identity.IssuerUnavailableError{RetryAfter: fetchEvery}
	}
	return v.keys, nil
}

// fetch fetches the keys for all waiting requests, even if one of them is cancelled.
func (v *Verifier) fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	keys, endpoint, err := v.read(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	now, failedBefore := v.options.Clock(), v.failed
	if v.failed = err != nil; v.failed {
		v.dueAt = now.Add(retryAfterFailure)
		v.options.Logger.Warn("the OAuth issuer's keys can't be fetched", "issuer", v.options.Issuer, "error", fmt.Sprintf("%.300s", err))
		return
	}
	if failedBefore {
		v.options.Logger.Info("the OAuth issuer's keys can be fetched again", "issuer", v.options.Issuer)
	}
	v.keys, v.endpoint, v.dueAt, v.trustedUntil = keys, endpoint, now.Add(freshFor), now.Add(trustedFor)
}
