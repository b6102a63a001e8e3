package auth

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// UserAccess is where the user of an access token may sign in.
type UserAccess struct {
	// ID is the issuer's name of the user, as in a grant.
	ID string
	// Accounts are the ids of the accounts that grant something to the user or to one of
	// the user's groups, the oldest first.
	Accounts []string
}

// AccessOf returns where the user of an access token may sign in, or a 401.
func (a *Authenticator) AccessOf(ctx context.Context, accessToken string) (UserAccess, error) {
	user, err := a.accessTokenUser(ctx, accessToken)
	if err != nil {
		return UserAccess{}, err
	}
	access := UserAccess{ID: user.Subjects[0].ID}
	err = a.store.View(ctx, func(r store.Reader) error {
		accounts, err := r.Accounts()
		if err != nil {
			return err
		}
		for _, account := range accounts {
			who, err := user.enter(account.ID, api.Spec{})
			if err != nil { // it names itself like the built-in owner
				continue
			}
			grants, err := r.GrantsOf(account.ID, who.Subjects)
			if err != nil {
				return err
			}
			if len(grants) > 0 {
				access.Accounts = append(access.Accounts, account.ID)
			}
		}
		return nil
	})
	return access, err
}

// accessTokenUser is user for a token that a person presents by other means than a header.
func (a *Authenticator) accessTokenUser(ctx context.Context, accessToken string) (Caller, error) {
	if a.verifier == nil {
		return Caller{}, invalidToken(api.TypeInvalidToken, "no access tokens are accepted here")
	}
	return a.user(ctx, accessToken)
}

// SealUserSession returns a sealed session in one account for the user of an access token,
// a 401, or a 403 if the account grants the user nothing. It lasts for a lifetime, or until
// the access token expires.
func (a *Authenticator) SealUserSession(ctx context.Context, accessToken, accountID string, lifetime time.Duration) (sealed string, err error) {
	who, err := a.enterAsUser(ctx, accessToken, accountID)
	if err != nil {
		return "", err
	}
	secretHash, err := a.accountSecret(ctx, accountID)
	if err != nil {
		return "", err
	}
	if secretHash == nil {
		return "", api.Conflict("the account has never had a service account, from whose token the key of sessions follows; create one with mailhostd token create")
	}
	expiry := a.now().Add(lifetime)
	if !who.ExpiresAt.IsZero() && who.ExpiresAt.Before(expiry) {
		expiry = who.ExpiresAt
	}
	packed, err := packToken(accessToken)
	if err != nil {
		return "", err
	}
	return seal(secretHash, userSessionKey, accountID, expiry, packed)
}

func (a *Authenticator) enterAsUser(ctx context.Context, accessToken, accountID string) (Caller, error) {
	who, err := a.accessTokenUser(ctx, accessToken)
	if err != nil {
		return Caller{}, err
	}
	return a.Enter(ctx, who, accountID, api.Spec{})
}

func (a *Authenticator) openUserSession(ctx context.Context, accountID string, content []byte) (Session, error) {
	secretHash, err := a.accountSecret(ctx, accountID)
	if err != nil {
		return Session{}, err
	}
	if secretHash == nil { // the account may not exist, which nobody may find out
		return Session{}, invalidSession()
	}
	expiry, packed, err := a.open(secretHash, userSessionKey, accountID, content)
	if err != nil {
		return Session{}, err
	}
	token, err := unpackToken(packed)
	if err != nil {
		return Session{}, invalidSession()
	}
	who, err := a.enterAsUser(ctx, token, accountID)
	if err != nil {
		return Session{}, err
	}
	return Session{Token: token, AccountID: accountID, Name: cmp.Or(who.Name, who.Email, who.Subjects[0].ID), ExpiresAt: expiry}, nil
}

// accountSecret returns a secret of an account that all processes on the database know: the
// hash of its first service account's token, which stays when that one is revoked. It is nil
// for an account without any.
func (a *Authenticator) accountSecret(ctx context.Context, accountID string) (hash []byte, err error) {
	err = a.store.View(ctx, func(r store.Reader) error {
		first, _, err := r.ServiceAccounts(accountID, store.Slice{Limit: 1})
		if err != nil || len(first) == 0 {
			return err
		}
		hash = first[0].SecretHash
		return nil
	})
	return hash, err
}

// The forms of a packed token.
const (
	packedText = iota // as it is
	packedJWT         // the parts of a JWT, decoded, each but the last followed by a zero byte
)

// packToken makes an access token small, because browsers limit a cookie to 4 KiB.
func packToken(token string) ([]byte, error) {
	form, content := byte(packedText), []byte(token)
	if parts, ok := decodeJWT(token); ok {
		form, content = packedJWT, bytes.Join(parts, []byte{0})
	}
	packed := bytes.NewBuffer([]byte{form})
	w, err := flate.NewWriter(packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content)
	err = errors.Join(err, w.Close())
	return packed.Bytes(), err
}

// maxUnpacked is the size of the largest token in a session, in bytes. No longer access
// token is valid.
const maxUnpacked = 16 << 10

// unpackToken is the reverse of packToken. packed is not empty.
func unpackToken(packed []byte) (string, error) {
	content, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed[1:])), maxUnpacked+1))
	if len(content) > maxUnpacked {
		return "", errors.New("the token is too large")
	}
	if err != nil || packed[0] == packedText {
		return string(content), err
	}
	var parts []string
	for _, part := range bytes.SplitN(content, []byte{0}, 3) {
		parts = append(parts, base64.RawURLEncoding.EncodeToString(part))
	}
	return strings.Join(parts, "."), nil
}

// decodeJWT returns the three parts of a JWT, if they are the only ones that encode it.
func decodeJWT(token string) (parts [][]byte, ok bool) {
	texts := strings.Split(token, ".")
	for i, text := range texts {
		part, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil || i < 2 && bytes.IndexByte(part, 0) >= 0 {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, len(parts) == 3
}
