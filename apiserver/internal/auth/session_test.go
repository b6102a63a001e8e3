package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TestForgedSessions checks that an attacker with the key of sessions can't make the server panic
// or use much memory.
func TestForgedSessions(t *testing.T) {
	hash := []byte("the hash of a token's secret")
	aead := sessionCipher(hash)
	for length := range 5 {
		_, err := open(hash, accountID, aead.Seal(nil, nil, make([]byte, length), []byte(accountID)))
		assert.Check(t, err != nil, "a session of %d bytes is accepted", length)
	}
	for length, valid := range map[int]bool{5: true, maxContent - 100: true, maxContent: false, 40 << 20: false} {
		sealed := seal(hash, accountID, time.Now(), strings.Repeat("a", length))
		content, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(sealed, accountID+"."))
		assert.NilError(t, err)
		u, err := open(hash, accountID, content)
		assert.Check(t, (err == nil) == valid && (!valid || len(u.Token) == length), "a token of %d bytes is opened as %d bytes, %v", length, len(u.Token), err)
	}
}

// TestSignIn checks that only a working token is sealed, and that a session can be opened until the
// token stops working or somebody signs out.
func TestSignIn(t *testing.T) {
	w := newWorld(t)
	wrong := Token{PublicID: w.token.PublicID, secret: "wrong"}
	for _, token := range []string{"", "mhsa_x", NewToken(random.New(nil)).String(), wrong.String()} {
		sealed, err := w.SealSession(t.Context(), token, time.Hour)
		assert.Check(t, err != nil && sealed == "", "the token %q has the session %q, %v", token, sealed, err)
	}
	access, err := w.AccessOf(t.Context(), "access token")
	assert.Check(t, err != nil, "without an issuer, %+v", access)
	sealed, err := w.SealUserSession(t.Context(), "access token", accountID, time.Hour)
	assert.Check(t, err != nil, "without an issuer, %q", sealed)
	seal := func() string {
		sealed, err := w.SealSession(t.Context(), w.token.String(), time.Hour)
		assert.NilError(t, err)
		return sealed
	}
	opens := func(what, sealed string, want bool) {
		t.Helper()
		s, err := w.OpenSession(t.Context(), sealed)
		if (err == nil) != want || want && (s.AccountID != accountID || s.ServiceAccountID != "ci" || s.Token != w.token.String()) {
			t.Errorf("%s: %+v, %v", what, s, err)
		}
	}
	ended, other := seal(), seal()
	opens("new", ended, true)
	assert.Check(t, w.EndSession(t.Context(), ended))
	opens("ended", ended, false)
	opens("another", other, true)
	w.watched.err = errors.New("the disk is broken")
	opens("perhaps ended", other, false)
	w.watched.err = nil
	opens("changed", other+"A", false)
	opens("damaged", other+"!", false)
	opens("of an account without a service account", "88888888-8888-4888-8888-888888888888.AAAA", false)
	w.now = w.now.Add(time.Hour)
	opens("expired", other, false)
	last := seal()
	w.update(t, func(tx store.Tx) error {
		_, err := store.Update(tx, accountID, "ci", func(a *store.ServiceAccount) error { a.RevokedAt = w.now; return nil })
		return err
	})
	opens("revoked", last, false)
}

// TestAttempt checks that another process on the database opens a sealed attempt to sign in until its lifetime ends,
// and that nobody else can make one: neither without the key, nor with that of another database, nor from a session.
func TestAttempt(t *testing.T) {
	w, elsewhere := newWorld(t), newWorld(t)
	replica := NewAuthenticator(w.watched, func() time.Time { return w.now }, nil, slog.New(slog.DiscardHandler))
	defer replica.LastUses.Close()
	sealed, err := w.SealAttempt(t.Context(), "state=a", time.Hour)
	assert.NilError(t, err)
	foreign, err := elsewhere.SealAttempt(t.Context(), "state=a", time.Hour)
	assert.NilError(t, err)
	session, err := w.SealSession(t.Context(), w.token.String(), time.Hour)
	assert.NilError(t, err)
	_, content, _ := strings.Cut(session, ".")
	opens := func(what, sealed, want string) {
		t.Helper()
		for _, a := range []*Authenticator{w.Authenticator, replica} {
			got, err := a.OpenAttempt(t.Context(), sealed)
			assert.Check(t, got == want && err == nil, "%s: %q, %v; want %q", what, got, err, want)
		}
	}
	opens("sealed", sealed, "state=a")
	for i := range len(sealed) {
		opens("cut off", sealed[:i], "")
		opens("changed", sealed[:i]+string(sealed[i]^1)+sealed[i+1:], "")
	}
	opens("another database's", foreign, "")
	opens("a session", session, "")
	opens("a session's content", attempt+"."+content, "")
	opens("made up", "state=a&verifier=b", "")
	_, err = w.OpenSession(t.Context(), sealed)
	assert.Check(t, err != nil, "an attempt opens as a session")
	_, content, _ = strings.Cut(sealed, ".")
	_, err = w.OpenSession(t.Context(), w.token.PublicID+"."+content)
	assert.Check(t, err != nil, "the content of an attempt opens as a session")
	// Another account and a new service account change no key: both are later.
	w.now = w.now.Add(time.Minute)
	w.update(t, func(tx store.Tx) error {
		const second = "22222222-2222-4333-8444-555555555555"
		token := NewToken(random.New(nil))
		return errors.Join(tx.Create(&store.Account{ID: second, Status: vocab.AccountActive, CreatedAt: w.now}),
			tx.Create(&store.ServiceAccount{ID: "new", AccountID: accountID, PublicID: token.PublicID, SecretHash: token.Hash(), CreatedAt: w.now}))
	})
	w.watched.accountsErr = errors.New("the disk is broken")
	_, err = w.OpenAttempt(t.Context(), sealed)
	assert.Check(t, errors.Is(err, w.watched.accountsErr), "with a broken disk: %v", err)
	w.watched.accountsErr = nil
	opens("after changes", sealed, "state=a")
	w.now = w.now.Add(time.Hour)
	opens("expired", sealed, "")
}

type verifierFunc func(token string) (identity.User, error)

func (f verifierFunc) VerifyToken(_ context.Context, token string) (identity.User, error) {
	return f(token)
}

// TestUserSignIn checks that users can sign in to the accounts that grant them something until the
// access token expires, and that a failing store is not taken for a missing grant.
func TestUserSignIn(t *testing.T) {
	w := newWorld(t)
	user := identity.User{ID: "jane", Email: "jane@example.com"}
	w.verifier = verifierFunc(func(string) (identity.User, error) { return user, nil })
	access := func(want ...string) {
		t.Helper()
		a, err := w.AccessOf(t.Context(), "token")
		assert.Check(t, err == nil && a.ID == user.ID && slices.Equal(a.Accounts, want), "%+v, %v; want %q", a, err, want)
	}
	access()
	sealed, err := w.SealUserSession(t.Context(), "token", accountID, time.Hour)
	assert.Check(t, err != nil, "without a grant, %q", sealed)
	w.grant(t, store.Subject{Type: vocab.SubjectUser, ID: user.ID})
	access(accountID)
	for _, failure := range []*error{&w.watched.err, &w.watched.accountsErr} {
		*failure = errors.New("the disk is broken")
		a, err := w.AccessOf(t.Context(), "token")
		assert.Check(t, errors.Is(err, *failure), "%+v, %v", a, err)
		*failure = nil
	}
	for _, lasts := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		want := w.now.Add(time.Hour)
		if user.ExpiresAt = (time.Time{}); lasts > 0 {
			user.ExpiresAt = w.now.Add(lasts)
			want = w.now.Add(min(lasts, time.Hour))
		}
		sealed, err := w.SealUserSession(t.Context(), "token", accountID, time.Hour)
		assert.NilError(t, err)
		if s, err := w.OpenSession(t.Context(), sealed); err != nil || s.AccountID != accountID || s.ServiceAccountID != "" || s.Name != user.Email || s.Token != "token" || !s.ExpiresAt.Equal(want) {
			t.Errorf("%+v, %v; want the expiry %s", s, err, want)
		}
	}
}
