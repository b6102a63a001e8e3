package auth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Session is a browser's permission to act with a token in one account for some hours.
// Every request of it is authorized like one with the token, so that a session ends with
// the token.
//
// The browser keeps the session sealed: encrypted with a key that follows from the stored
// hash of a service account's token. Every process on the database can open it, none
// stores anything for it, and the API does not accept it as a credential. Nobody can
// forge one with the database alone, because it contains the token.
type Session struct {
	// Token is a service account's token, or a user's access token.
	Token, AccountID string
	// ServiceAccountID is empty for a user.
	ServiceAccountID string
	// Name is the service account's name, or what the access token says of the user.
	Name      string
	ExpiresAt time.Time
}

// The purposes of the keys that follow from the hash of a token's secret.
const (
	tokenSessionKey = "mailhostd console session v1"
	userSessionKey  = "mailhostd console session of a user v1"
)

// SealSession returns a sealed session for a service account's token, or a 401. It lasts
// at most for a lifetime.
func (a *Authenticator) SealSession(ctx context.Context, token string, lifetime time.Duration) (sealed string, err error) {
	t, ok := parseToken(token)
	if !ok {
		return "", invalidToken(api.TypeInvalidToken, "the token is malformed; was it copied whole?")
	}
	if _, err := a.view(ctx, Caller{publicID: t.PublicID, secretHash: t.Hash()}); err != nil {
		return "", err
	}
	return seal(t.Hash(), tokenSessionKey, t.PublicID, a.now().Add(lifetime), []byte(token))
}

// OpenSession returns the session that SealSession or SealUserSession has sealed, a 401 if
// it has ended, or a 403 if the account grants the user nothing any more.
func (a *Authenticator) OpenSession(ctx context.Context, sealed string) (Session, error) {
	of, encoded, _ := strings.Cut(sealed, ".")
	content, err := base64.RawURLEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return Session{}, invalidSession()
	case api.IsID(of):
		return a.openUserSession(ctx, of, content)
	}
	return a.openTokenSession(ctx, of, content)
}

func (a *Authenticator) openTokenSession(ctx context.Context, publicID string, content []byte) (s Session, err error) {
	err = a.store.View(ctx, func(r store.Reader) error {
		e, err := a.read(r, Caller{publicID: publicID})
		if err != nil {
			return err
		}
		expiry, opened, err := a.open(e.serviceAccount.SecretHash, tokenSessionKey, publicID, content)
		if err != nil {
			return err
		}
		s = Session{ExpiresAt: expiry, Token: string(opened)}
		token, _ := parseToken(s.Token)
		who, err := a.current(r, Caller{publicID: publicID, secretHash: token.Hash()})
		if err == nil {
			s.AccountID, s.ServiceAccountID, s.Name = who.AccountID, who.Subjects[0].ID, who.Name
		}
		return err
	})
	if err != nil {
		return Session{}, err
	}
	return s, nil
}

func invalidSession() error { return invalidToken(api.TypeInvalidToken, "the session is not valid") }

// seal encrypts a token until an expiry, with a key for one purpose. of is readable in the
// result and can't be changed.
func seal(secretHash []byte, purpose, of string, expiry time.Time, token []byte) (string, error) {
	aead, err := sessionCipher(secretHash, purpose)
	if err != nil {
		return "", err
	}
	content := binary.BigEndian.AppendUint64(nil, uint64(expiry.UnixMicro()))
	content = aead.Seal(nil, nil, append(content, token...), []byte(of))
	return of + "." + base64.RawURLEncoding.EncodeToString(content), nil
}

// expiryLength is the length of the expiry in a sealed session, in bytes.
const expiryLength = 8

// open is the reverse of seal. The error is a 401 if the content was not sealed here or has
// expired.
func (a *Authenticator) open(secretHash []byte, purpose, of string, content []byte) (expiry time.Time, token []byte, err error) {
	aead, err := sessionCipher(secretHash, purpose)
	if err != nil {
		return expiry, nil, err
	}
	opened, err := aead.Open(nil, nil, content, []byte(of))
	if err != nil || len(opened) <= expiryLength {
		return expiry, nil, invalidSession()
	}
	if expiry = time.UnixMicro(int64(binary.BigEndian.Uint64(opened))).UTC(); expired(expiry, a.now()) {
		return expiry, nil, invalidToken(api.TypeTokenExpired, "the session has ended")
	}
	return expiry, opened[expiryLength:], nil
}

// sessionCipher returns the cipher for a purpose with a key that follows from the hash of a
// token's secret.
func sessionCipher(secretHash []byte, purpose string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secretHash, nil, purpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
