package auth

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// SealSession returns a sealed session for a service account's token, or a 401. The session ends
// after lifetime.
func (a *Authenticator) SealSession(ctx context.Context, token string, lifetime time.Duration) (sealed string, err error) {
	t, ok := parseToken(token)
	if !ok {
		return "", invalidToken(api.TypeInvalidToken, "the token is malformed; was it copied whole?")
	}
	if _, err := a.AuthorizeNow(ctx, t.caller(), noOperation); err != nil {
		return "", err
	}
	return seal(t.Hash(), t.PublicID, a.now().Add(lifetime), token), nil
}

// SealUserSession returns a sealed session for the user of an access token in one account, a 401,
// or a 403 if the account grants the user nothing. The session ends after lifetime, at the latest
// with the access token.
func (a *Authenticator) SealUserSession(ctx context.Context, accessToken, accountID string, lifetime time.Duration) (sealed string, err error) {
	who, err := a.userIn(ctx, accessToken, accountID)
	if err != nil {
		return "", err
	}
	secretHash, err := a.sessionSecret(ctx, accountID)
	if err != nil {
		return "", err
	}
	if secretHash == nil {
		return "", noSecret()
	}
	expiry := a.now().Add(lifetime)
	if !who.ExpiresAt.IsZero() && who.ExpiresAt.Before(expiry) {
		expiry = who.ExpiresAt
	}
	return seal(secretHash, accountID, expiry, accessToken), nil
}

// OpenSession returns a sealed session, a 401 if it has ended, or a 403 if the account no longer
// grants the user anything.
func (a *Authenticator) OpenSession(ctx context.Context, sealed string) (identity.Session, error) {
	u, err := a.unseal(ctx, sealed)
	if err != nil {
		return identity.Session{}, err
	}
	s := identity.Session{Token: u.Token, ExpiresAt: u.Expiry}
	if api.IsID(u.of) {
		who, err := a.userIn(ctx, u.Token, u.of)
		if err != nil {
			return identity.Session{}, err
		}
		s.AccountID, s.UserID, s.Name = u.of, who.Subjects[0].ID, cmp.Or(who.Name, who.Email)
		return s, nil
	}
	token, _ := parseToken(u.Token)
	who, err := a.AuthorizeNow(ctx, Caller{publicID: u.of, secretHash: token.Hash()}, noOperation)
	if err != nil {
		return identity.Session{}, err
	}
	s.AccountID, s.ServiceAccountID, s.Name = who.AccountID, who.Subjects[0].ID, who.Name
	return s, nil
}

// endedFor is how long an ended session is remembered after its expiry: a server whose clock is ahead deletes full
// buckets early, which must not begin the session again.
const endedFor = 400 * 24 * time.Hour

// EndSession ends all copies of a session: its token bucket is not full for as long as any server may take the
// session for valid.
func (a *Authenticator) EndSession(ctx context.Context, sealed string) error {
	u, err := a.unseal(ctx, sealed)
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.GetStatus() == http.StatusUnauthorized {
		return nil // already ended
	}
	if err != nil {
		return err
	}
	return a.store.Update(ctx, func(tx store.Tx) error {
		return tx.UpdateTokenBucket(u.bucket, a.now(), func(time.Time) time.Time { return u.Expiry.Add(endedFor) })
	})
}

// attempt takes the place of a public id in a sealed attempt to sign in at the OAuth issuer. No
// token's public id contains an underscore.
const attempt = "sign_in"

// SealAttempt returns the sealed content of an attempt to sign in at the OAuth issuer, for the
// browser's cookie. OpenAttempt opens it in any process on the database, until lifetime ends.
func (a *Authenticator) SealAttempt(ctx context.Context, content string, lifetime time.Duration) (sealed string, err error) {
	secretHash, err := a.attemptSecret(ctx)
	if err != nil {
		return "", err
	}
	return seal(secretHash, attempt, a.now().Add(lifetime), content), nil
}

// OpenAttempt returns the content of a sealed attempt, or "" if SealAttempt did not seal it or its
// lifetime has ended.
func (a *Authenticator) OpenAttempt(ctx context.Context, sealed string) (content string, err error) {
	encoded, ok := strings.CutPrefix(sealed, attempt+".")
	encrypted, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return "", nil //nolint:nilerr // a forged cookie contains no attempt
	}
	secretHash, err := a.attemptSecret(ctx)
	if err != nil {
		return "", err
	}
	u, err := open(secretHash, attempt, encrypted)
	if err != nil || expired(u.Expiry, a.now()) {
		return "", nil //nolint:nilerr // see above
	}
	return u.Token, nil
}

// attemptSecret returns the secret of the key of attempts: the hash of the first service account in
// the first account that has ever had one. It returns a 409 without any service account; then there
// is no key for a session either. The secret is cached, because anybody can begin an attempt.
func (a *Authenticator) attemptSecret(ctx context.Context) ([]byte, error) {
	return store.Read(ctx, a.store, func(r store.Reader) ([]byte, error) {
		version, err := r.AuthorizationVersion()
		if err != nil {
			return nil, err
		}
		if e := a.attempts.Load(); e != nil && e.version == version {
			return e.serviceAccount.SecretHash, nil
		}
		accounts, err := r.Accounts()
		if err != nil {
			return nil, err
		}
		for _, account := range accounts {
			secretHash, err := firstSecret(r, account.ID)
			if err != nil {
				return nil, err
			}
			if secretHash != nil {
				a.attempts.Store(&entry{version: version, serviceAccount: store.ServiceAccount{SecretHash: secretHash}})
				return secretHash, nil
			}
		}
		return nil, noSecret()
	})
}

// content is the encrypted part of a sealed session, or of a sealed attempt in place of the token.
type content struct {
	Token  string
	Expiry time.Time
}

// unsealed is the content of a sealed session.
type unsealed struct {
	content
	// of is the public id of a service account's token, or the account id of a user.
	of string
	// bucket names the token bucket of EndSession.
	bucket string
}

// unseal is the reverse of seal. It returns a 401 if the session was not sealed here or has ended.
func (a *Authenticator) unseal(ctx context.Context, sealed string) (u unsealed, err error) {
	invalid := invalidToken(api.TypeInvalidToken, "the session is not valid")
	of, encoded, _ := strings.Cut(sealed, ".")
	encrypted, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return u, invalid
	}
	secretHash, err := a.sessionSecret(ctx, of)
	if err != nil {
		return u, err
	}
	if secretHash == nil { // must not reveal whether the account exists
		return u, invalid
	}
	if u, err = open(secretHash, of, encrypted); err != nil {
		return u, invalid
	}
	endedUntil, err := store.Read(ctx, a.store, func(r store.Reader) (time.Time, error) { return r.TokenBucket(u.bucket) })
	if err != nil {
		return u, err
	}
	if expired(u.Expiry, a.now()) || !endedUntil.IsZero() {
		return u, invalidToken(api.TypeTokenExpired, "the session has ended")
	}
	return u, nil
}

// sessionSecret returns the secret of a session's key, known to all processes on the database. It
// is the hash of the service account's token. For a user it is the hash of the account's first
// service account, which remains after a revocation; nil without one.
func (a *Authenticator) sessionSecret(ctx context.Context, of string) ([]byte, error) {
	return store.Read(ctx, a.store, func(r store.Reader) ([]byte, error) {
		if !api.IsID(of) {
			e, err := a.cache.lookup(r, Caller{publicID: of})
			return e.serviceAccount.SecretHash, err
		}
		return firstSecret(r, of)
	})
}

// firstSecret returns the hash of an account's first service account, or nil without one.
func firstSecret(r store.Reader, accountID string) ([]byte, error) {
	first, _, err := r.ServiceAccounts(accountID, store.Slice{Limit: 1})
	if err != nil || len(first) == 0 {
		return nil, err
	}
	return first[0].SecretHash, nil
}

func noSecret() error {
	return api.Conflict("the account has never had a service account, from whose token the key of sessions follows; create one with mailhostd token create")
}

// seal encrypts and compresses a token with an expiry, because browsers limit a cookie to 4 KiB. of
// remains readable.
func seal(secretHash []byte, of string, expiry time.Time, token string) string {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // the level is valid, and writing to memory never fails
	_ = json.NewEncoder(w).Encode(content{token, expiry})
	_ = w.Close()
	return of + "." + base64.RawURLEncoding.EncodeToString(sessionCipher(secretHash).Seal(nil, nil, packed.Bytes(), []byte(of)))
}

// maxContent limits the decompressed session, in bytes: an attacker may have compressed it.
const maxContent = 16 << 10

// open is the reverse of seal, without the checks of unseal.
func open(secretHash []byte, of string, sealed []byte) (u unsealed, err error) {
	packed, err := sessionCipher(secretHash).Open(nil, nil, sealed, []byte(of))
	if err != nil {
		return u, err
	}
	sum := sha256.Sum256(sealed) // not of its text, because base64 allows several spellings
	u = unsealed{of: of, bucket: "session " + base64.RawURLEncoding.EncodeToString(sum[:])}
	return u, json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxContent)).Decode(&u.content)
}

// sessionCipher returns the cipher with a key derived from the hash of a token's secret.
func sessionCipher(secretHash []byte) cipher.AEAD {
	return Cipher(secretHash, "mailhostd console session v2")
}

// Cipher returns AES-256 in Galois/Counter Mode, with random nonces and a key derived from a secret
// and its purpose.
func Cipher(secret []byte, purpose string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, secret, nil, purpose, 32)
	if err != nil {
		panic(err) // impossible: the length is valid
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}
