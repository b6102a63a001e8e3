package apiserver_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const browserAddress = "192.0.2.7:1234"

// refused checks the status code and type of an *api.Error.
func refused(t *testing.T, what string, err error, status int, typ string) {
	t.Helper()
	response, ok := errors.AsType[*api.Error](err)
	assert.Check(t, ok && response.GetStatus() == status && response.Detail[0].Type == typ, "%s: %v; want %d %s", what, err, status, typ)
}

// unclosed is a store that two services share and one of them closes.
type unclosed struct{ store.Store }

func (unclosed) Close() error { return nil }

// TestSession checks that another process on the same database can open a sealed session, that the
// session reveals nothing of its token, and that it ends after its lifetime, or at once with its
// token.
func TestSession(t *testing.T) {
	shared := newStore(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = shared })
	other := apitest.NewService(t, apiserver.Options{Store: unclosed{shared}, Clock: h.Clock.Now, PasswordCost: apitest.Cheap})
	id, client := h.ServiceAccount(h.Client, obj{"name": "ada", "expires_at": "2027-01-01T00:00:00Z"})
	sealed, err := h.Service.SignIn(t.Context(), client.Token, browserAddress, time.Hour)
	assert.NilError(t, err)
	secret := strings.Split(client.Token, "_")[2]
	assert.Check(t, !strings.Contains(sealed, secret), "the session %s shows the token's secret", sealed)
	want := identity.Session{Token: client.Token, AccountID: accountID, ServiceAccountID: id, Name: "ada", ExpiresAt: h.Clock.Now().Add(time.Hour).Truncate(time.Microsecond)}
	for _, service := range []*apiserver.Service{h.Service, other} {
		got, err := service.Session(t.Context(), sealed)
		assert.Check(t, got == want && err == nil, "the session is %+v, %v; want %+v", got, err, want)
	}
	h.As(sealed).Get("/mailboxes").Refused(401, "header.Authorization invalid_token")

	publicID, content, _ := strings.Cut(sealed, ".")
	_, stranger := h.ServiceAccount(h.Client, obj{"name": "stranger"})
	for _, bad := range []string{"", "x", publicID, publicID + ".", publicID + ".AAAA", publicID + "." + content[:len(content)-4] + "AAAA", strings.Split(stranger.Token, "_")[1] + "." + content, "x." + content, client.Token} {
		_, err := other.Session(t.Context(), bad)
		refused(t, "the session "+bad, err, 401, api.TypeInvalidToken)
	}

	h.Clock.Advance(time.Hour)
	_, err = other.Session(t.Context(), sealed)
	refused(t, "a session after its time", err, 401, api.TypeTokenExpired)
	if sealed, err = h.Service.SignIn(t.Context(), client.Token, browserAddress, time.Hour); err != nil {
		t.Fatal(err)
	}
	_, err = other.Session(t.Context(), sealed)
	assert.NilError(t, err)
	assert.NilError(t, errors.Join(other.SignOut(t.Context(), sealed), h.Service.SignOut(t.Context(), sealed)))
	publicID, content, _ = strings.Cut(sealed, ".")
	for _, copied := range []string{sealed, publicID + "." + content[:4] + "\r\n" + content[4:]} { // base64 may contain line breaks
		_, err := h.Service.Session(t.Context(), copied)
		refused(t, "a copy of a session after the sign-out", err, 401, api.TypeTokenExpired)
	}
	const year = 365 * 24 * time.Hour
	h.Clock.Advance(year)
	h.Post("/feedback", obj{"title": "t", "description": "d"}).Want(201) // deletes full token buckets
	h.Clock.Advance(-year)
	_, err = other.Session(t.Context(), sealed)
	refused(t, "an ended session after a clock was a year ahead", err, 401, api.TypeTokenExpired)
	if sealed, err = h.Service.SignIn(t.Context(), client.Token, browserAddress, time.Hour); err != nil {
		t.Fatal(err)
	}
	h.Delete("/auth/service-accounts/" + id).Want(204)
	for _, service := range []*apiserver.Service{h.Service, other} {
		_, err := service.Session(t.Context(), sealed)
		refused(t, "the session of a revoked token", err, 401, api.TypeTokenRevoked)
	}
}

// TestSignInIsLimited checks that failed attempts count against the limit of an address, and don't
// lock out others.
func TestSignInIsLimited(t *testing.T) {
	h := apitest.New(t, func(o *apiserver.Options) { o.RateLimit = apiserver.RateLimit{Requests: 3, Per: time.Minute} })
	_, client := h.ServiceAccount(h.Client, obj{"name": "ada"})
	guess := "mhsa_" + strings.Split(client.Token, "_")[1] + "_guess"
	for i := range 5 {
		_, err := h.Service.SignIn(t.Context(), guess, browserAddress, time.Hour)
		if i < 3 {
			refused(t, "a guess", err, 401, api.TypeInvalidToken)
		} else {
			refused(t, "a fourth guess", err, 429, api.TypeRateLimited)
		}
	}
	_, err := h.Service.SignIn(t.Context(), client.Token, "192.0.2.8:1234", time.Hour)
	assert.Check(t, err, "another address")
}

// TestCallsOfTheIssuer checks that any number of people can call the issuer at once from one address, and that they
// wait for each other.
func TestCallsOfTheIssuer(t *testing.T) {
	h := apitest.New(t)
	var inFlight, most atomic.Int64
	var people sync.WaitGroup
	for range 300 {
		people.Go(func() {
			err := h.Service.CallIssuer(t.Context(), browserAddress, func() error {
				for now := inFlight.Add(1); ; {
					if old := most.Load(); now <= old || most.CompareAndSwap(old, now) {
						break
					}
				}
				time.Sleep(20 * time.Millisecond)
				inFlight.Add(-1)
				return nil
			})
			assert.Check(t, err, "one of 300 people")
		})
	}
	people.Wait()
	assert.Check(t, most.Load() <= 32, "%d calls were in flight", most.Load())
}

// TestFailedCallsOfTheIssuer checks that failures slow down the calls of an address, so that the issuer gets few, and
// lock nobody out, because people behind a proxy share an address with strangers.
func TestFailedCallsOfTheIssuer(t *testing.T) {
	const patience = 10 * time.Second
	for what, every := range map[string]time.Duration{"one a second": time.Second, "four a second": time.Second / 4, "one after the other": 0} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := apitest.New(t, func(o *apiserver.Options) { o.Clock = time.Now })
				failure, succeed, begun := errors.New("invalid_grant"), func() error { return nil }, time.Now()
				for range 200 {
					assert.Check(t, errors.Is(h.Service.CallIssuer(t.Context(), browserAddress, func() error { return failure }), failure))
					time.Sleep(every)
				}
				// 60 at once, one a second that is forgotten, and five a second.
				assert.Check(t, every > 0 || time.Since(begun) >= (200-60)/(5+1)*time.Second, "200 failures took %s", time.Since(begun))
				begun = time.Now()
				var people sync.WaitGroup
				for range 30 {
					people.Go(func() {
						assert.Check(t, h.Service.CallIssuer(t.Context(), browserAddress, succeed), "one of 30 people")
					})
				}
				people.Wait()
				assert.Check(t, time.Since(begun) < patience, "30 people waited %s", time.Since(begun))
			})
		})
	}
	t.Run("a flood", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := apitest.New(t, func(o *apiserver.Options) { o.Clock = time.Now })
			var failed, limited atomic.Int64
			var flood sync.WaitGroup
			begun := time.Now()
			for range 3000 {
				flood.Go(func() {
					err := h.Service.CallIssuer(t.Context(), browserAddress, func() error {
						failed.Add(1)
						return errors.New("invalid_grant")
					})
					if response, ok := errors.AsType[*api.Error](err); ok {
						limited.Add(1)
						assert.Check(t, response.GetStatus() == 429, "%v", err)
					}
				})
			}
			synctest.Wait() // all others wait for their turns
			assert.Check(t, h.Service.CallIssuer(t.Context(), "192.0.2.8:1234", func() error { return nil }), "another address")
			assert.Check(t, time.Since(begun) == 0, "another address waited %s", time.Since(begun))
			refused(t, "one more", h.Service.CallIssuer(t.Context(), browserAddress, func() error { return nil }), 429, api.TypeRateLimited)
			flood.Wait()
			assert.Check(t, failed.Load() == 60+50 && limited.Load() == 3000-60-50, "%d calls of the issuer, and %d were refused", failed.Load(), limited.Load())
			assert.Check(t, time.Since(begun) < patience, "a call waited %s", time.Since(begun))
		})
	})
}

// TestUserSession checks that a user's session is for one account, reveals nothing of the access
// token, and ends after its lifetime, with the access token, or at once with the last grant, in
// every process on the database.
func TestUserSession(t *testing.T) {
	// A JWT, which is compressed, and a token of another form.
	jwt := "eyJhbGciOiJSUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"auth0|jane","groups":["`+strings.Repeat("engineering ", 300)+`"]}`)) + ".AAECAwQFBgcICQ"
	expiry := apitest.Start.Add(2 * time.Hour)
	user := jane()
	user.ExpiresAt = expiry
	i := &issuer{tokens: map[string]any{jwt: user, "opaque": jane(), "stranger": identity.User{ID: "stranger"}}}
	shared := newStore(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store, o.Tokens = shared, i })
	other := apitest.NewService(t, apiserver.Options{Store: unclosed{shared}, Clock: h.Clock.Now, PasswordCost: apitest.Cheap, Tokens: i})
	both := []*apiserver.Service{h.Service, other}

	grant := h.GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView})
	_, err := h.Service.SignInUser(t.Context(), "opaque", accountID, browserAddress, time.Hour)
	refused(t, "an account without a secret", err, 409, api.TypeConflict)
	for _, account := range []string{accountID, "33333333-2222-4333-8444-555555555555"} { // must not reveal which account exists
		_, err := h.Service.Session(t.Context(), account+".AAAA")
		refused(t, "a session of the account "+account, err, 401, api.TypeInvalidToken)
	}
	h.ServiceAccount(h.Client, obj{"name": "first"})
	const second = "22222222-2222-4333-8444-555555555555"
	owner := h.Owner(t, second)
	owner.GrantOwner("group", "Staff")
	h.ServiceAccount(owner, obj{"name": "first"})
	access, err := other.AccessOf(t.Context(), jwt, browserAddress)
	assert.Check(t, err == nil && access.ID == "auth0|jane" && slices.Equal(access.Accounts, []string{accountID, second}), "jane may enter %+v, %v", access, err)
	access, err = other.AccessOf(t.Context(), "stranger", browserAddress)
	assert.Check(t, err == nil && access.Accounts == nil, "a stranger may enter %+v, %v", access, err)
	_, err = h.Service.SignInUser(t.Context(), "stranger", accountID, browserAddress, time.Hour)
	refused(t, "a stranger", err, 403, api.TypePermissionDenied)
	_, err = h.Service.SignInUser(t.Context(), "unknown", accountID, browserAddress, time.Hour)
	refused(t, "an unknown token", err, 401, api.TypeInvalidToken)

	for token, end := range map[string]time.Time{jwt: expiry, "opaque": h.Clock.Now().Add(3 * time.Hour)} {
		sealed, err := h.Service.SignInUser(t.Context(), token, accountID, browserAddress, 3*time.Hour)
		assert.NilError(t, err)
		assert.Check(t, len(sealed) <= 400 && !strings.Contains(sealed, token), "the session of %s is %s", token, sealed)
		want := identity.Session{Token: token, AccountID: accountID, UserID: "auth0|jane", Name: "Jane Doe", ExpiresAt: end.Truncate(time.Microsecond)}
		for _, service := range both {
			got, err := service.Session(t.Context(), sealed)
			assert.Check(t, got == want && err == nil, "the session is %+v, %v; want %+v", got, err, want)
		}
		h.As(sealed).Get("/mailboxes").Refused(401, "header.Authorization invalid_token")
		_, content, _ := strings.Cut(sealed, ".")
		for _, bad := range []string{accountID + ".", accountID + ".AAAA", accountID + "." + content[:len(content)-4] + "AAAA", second + "." + content, "first." + content} {
			_, err := other.Session(t.Context(), bad)
			refused(t, bad, err, 401, api.TypeInvalidToken)
		}
	}

	sealed, err := h.Service.SignInUser(t.Context(), jwt, accountID, browserAddress, 3*time.Hour)
	assert.NilError(t, err)
	h.Delete("/auth/authorizations/" + grant).Want(204)
	for _, service := range both {
		_, err := service.Session(t.Context(), sealed)
		refused(t, "a session without grants", err, 403, api.TypePermissionDenied)
	}
	ended, err := other.SignInUser(t.Context(), "opaque", second, browserAddress, 3*time.Hour)
	assert.NilError(t, err)
	i.set("opaque", &identity.IssuerUnavailableError{RetryAfter: time.Second}) // must not prevent a sign-out
	assert.NilError(t, h.Service.SignOut(t.Context(), ended))
	i.set("opaque", jane())
	_, err = other.Session(t.Context(), ended)
	refused(t, "a session that was ended", err, 401, api.TypeTokenExpired)
	h.GrantTo("user", "auth0|jane", apitest.Grant{Capability: vocab.CapMailboxView})
	i.set(jwt, &identity.IssuerUnavailableError{RetryAfter: time.Second})
	_, err = other.Session(t.Context(), sealed)
	refused(t, "a session during an outage of the issuer", err, 503, api.TypeUnavailable)
	i.set(jwt, &identity.InvalidTokenError{Reason: "the access token is not signed by a key of its issuer"})
	_, err = other.Session(t.Context(), sealed)
	refused(t, "a session whose key was withdrawn", err, 401, api.TypeInvalidToken)
	i.set(jwt, user)
	h.Clock.Advance(2 * time.Hour)
	_, err = other.Session(t.Context(), sealed)
	refused(t, "a session after its time", err, 401, api.TypeTokenExpired)
}
