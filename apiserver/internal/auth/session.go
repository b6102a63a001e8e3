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

// Session is a browser's permission to act with a service account's token for some
// hours. Every request of it is authorized like one with the token, so that a session
// ends with the token.
//
// The browser keeps the session sealed: encrypted with a key that follows from the stored
// hash of the token's secret. Every process on the database can open it, none stores
// anything for it, and the API does not accept it as a credential.
type Session struct {
	Token string
	// AccountID is the account of the service account, whose ID and name follow.
	AccountID, ServiceAccountID, Name string
	ExpiresAt                         time.Time
}

const sessionKeyInfo = "mailhostd console session v1"

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
	aead, err := sessionCipher(t.Hash())
	if err != nil {
		return "", err
	}
	content := binary.BigEndian.AppendUint64(nil, uint64(a.now().Add(lifetime).UnixMicro()))
	content = aead.Seal(nil, nil, append(content, token...), []byte(t.PublicID))
	return t.PublicID + "." + base64.RawURLEncoding.EncodeToString(content), nil
}

// OpenSession returns the session that SealSession has sealed, or a 401 if it has ended.
func (a *Authenticator) OpenSession(ctx context.Context, sealed string) (s Session, err error) {
	publicID, encoded, _ := strings.Cut(sealed, ".")
	content, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return Session{}, invalidSession()
	}
	err = a.store.View(ctx, func(r store.Reader) error {
		e, err := a.read(r, Caller{publicID: publicID})
		if err != nil {
			return err
		}
		aead, err := sessionCipher(e.serviceAccount.SecretHash)
		if err != nil {
			return err
		}
		opened, err := aead.Open(nil, nil, content, []byte(publicID))
		if err != nil {
			return invalidSession() // it was not sealed here
		}
		s = Session{ExpiresAt: time.UnixMicro(int64(binary.BigEndian.Uint64(opened))).UTC(), Token: string(opened[8:])}
		if expired(s.ExpiresAt, a.now()) {
			return invalidToken(api.TypeTokenExpired, "the session has ended")
		}
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

// sessionCipher returns the cipher of the sessions of the token whose secret has that
// hash.
func sessionCipher(secretHash []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secretHash, nil, sessionKeyInfo, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
