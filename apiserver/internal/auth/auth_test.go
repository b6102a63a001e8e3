package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const accountID = "11111111-2222-4333-8444-555555555555"

// watchedStore counts the reads of callers.
type watchedStore struct {
	store.Store
	reads int
	err   error  // returned by each read, or by the method only
	only  string // empty for all methods
	// stuck returns the same AuthorizationVersion after a change, as a database without triggers does.
	stuck bool
	// accountsErr is returned by the list of all accounts.
	accountsErr error
}

type watchedReader struct {
	store.Reader
	s *watchedStore
}

func (s *watchedStore) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.Store.View(ctx, func(r store.Reader) error { return fn(watchedReader{r, s}) })
}

// failure counts a read, and returns its error.
func (r watchedReader) failure(method string) error {
	r.s.reads++
	if r.s.only == "" || r.s.only == method {
		return r.s.err
	}
	return nil
}

func (r watchedReader) ServiceAccountByPublicID(id string) (store.ServiceAccount, error) {
	if err := r.failure("ServiceAccountByPublicID"); err != nil {
		return store.ServiceAccount{}, err
	}
	return r.Reader.ServiceAccountByPublicID(id)
}

func (r watchedReader) GrantsOf(accountID string, subjects []store.Subject) ([]store.Authorization, error) {
	if err := r.failure("GrantsOf"); err != nil {
		return nil, err
	}
	return r.Reader.GrantsOf(accountID, subjects)
}

func (r watchedReader) AuthorizationVersion() (int64, error) {
	if r.s.stuck {
		return 1, nil
	}
	return r.Reader.AuthorizationVersion()
}

func (r watchedReader) Accounts() ([]store.Account, error) {
	all, err := r.Reader.Accounts()
	return all, cmp.Or(r.s.accountsErr, err)
}

func (r watchedReader) Account(id string) (store.Account, error) {
	if err := r.failure("Account"); err != nil {
		return store.Account{}, err
	}
	return r.Reader.Account(id)
}

func (r watchedReader) TokenBucket(name string) (time.Time, error) {
	if r.s.err != nil {
		return time.Time{}, r.s.err
	}
	return r.Reader.TokenBucket(name)
}

// world is an account, and a service account that owns it.
type world struct {
	*Authenticator
	watched *watchedStore
	now     time.Time
	token   Token
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "mailhost.db"), sqlite.Options{})
	assert.NilError(t, err)
	w := &world{watched: &watchedStore{Store: s}, now: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), token: NewToken(random.New(nil))}
	w.Authenticator = NewAuthenticator(w.watched, func() time.Time { return w.now }, nil, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		w.LastUses.Close()
		_ = s.Close()
	})
	w.update(t, func(tx store.Tx) error {
		if err := tx.Create(&store.Account{ID: accountID, Status: vocab.AccountActive, CreatedAt: w.now}); err != nil {
			return err
		}
		return tx.Create(&store.ServiceAccount{
			ID: "ci", AccountID: accountID, PublicID: w.token.PublicID, SecretHash: w.token.Hash(), CreatedAt: w.now,
		})
	})
	w.grant(t, store.Subject{Type: vocab.SubjectServiceAccount, ID: "ci"})
	w.grant(t, OwnerSubject(accountID))
	return w
}

func (w *world) update(t *testing.T, fn func(store.Tx) error) {
	t.Helper()
	assert.NilError(t, w.watched.Update(t.Context(), fn))
}

func (w *world) grant(t *testing.T, to store.Subject) {
	t.Helper()
	w.update(t, func(tx store.Tx) error {
		return tx.Create(&store.Authorization{
			ID: to.ID, AccountID: accountID, GrantKind: vocab.GrantAccountOwner, SubjectType: to.Type, SubjectID: to.ID, CreatedAt: w.now,
		})
	})
}

// identify identifies and authorizes the sender of a request by a token.
func (w *world) identify(ctx context.Context, token string) (Caller, error) {
	who, err := w.Identify(ctx, []string{"Bearer " + token})
	if err != nil {
		return who, err
	}
	return w.enter(ctx, who)
}

// enter authorizes the identified sender of a request.
func (w *world) enter(ctx context.Context, who Caller) (Caller, error) {
	who, err := who.In(accountID, api.GetMailbox.Spec)
	if err != nil {
		return who, err
	}
	if who, err = w.Preauthorize(ctx, who, api.GetMailbox.Spec); err != nil {
		return who, err
	}
	return w.AuthorizeNow(ctx, who, api.GetMailbox.Spec)
}

// TestCache checks that a caller is read once per version, in snapshots and transactions, and that
// the cache accepts no wrong secret.
func TestCache(t *testing.T) {
	w := newWorld(t)
	check := func(what string, reads int) {
		t.Helper()
		for range 2 {
			who, err := w.identify(t.Context(), w.token.String())
			assert.Assert(t, err == nil && who.IsServiceAccount() && len(who.Grants) != 0, "%s: %+v, %v", what, who, err)
			w.update(t, func(tx store.Tx) error {
				_, err := w.Authorize(watchedReader{tx, w.watched}, who, api.CreateMailbox.Spec)
				return err
			})
			who, err = w.enter(t.Context(), Owner(accountID))
			assert.Assert(t, err == nil && len(who.Grants) == 1, "%s: %+v, %v", what, who, err)
		}
		assert.Check(t, w.watched.reads == reads, "%s: %d reads, want %d", what, w.watched.reads, reads)
	}
	w.watched.err = errors.New("the account can't be read")
	for _, w.watched.only = range []string{"ServiceAccountByPublicID", "GrantsOf", "Account"} {
		_, err := w.identify(t.Context(), w.token.String())
		assert.Check(t, errors.Is(err, w.watched.err) && cached(w.Authenticator) == 0, "%s: %v", w.watched.only, err)
	}
	_, err := w.enter(t.Context(), Owner(accountID))
	assert.Check(t, errors.Is(err, w.watched.err) && cached(w.Authenticator) == 0, "%v; want the error of the store", err)
	w.watched.err, w.watched.only, w.watched.reads = nil, "", 0
	check("first", 5)
	w.update(t, func(tx store.Tx) error {
		return tx.Create(&store.Workspace{ID: "w", AccountID: accountID, CreatedAt: w.now})
	})
	check("after another change", 5)
	w.grant(t, store.Subject{Type: vocab.SubjectServiceAccount, ID: "other"})
	check("after a grant", 10)

	wrong := NewToken(random.New(nil))
	wrong.PublicID = w.token.PublicID
	_, err = w.identify(t.Context(), wrong.String())
	assert.Check(t, err != nil, "another secret is accepted")
	if unknown := NewToken(random.New(nil)); w.watched.reads != 10 {
		t.Error("a wrong secret causes a read")
	} else if _, err := w.identify(t.Context(), unknown.String()); err == nil {
		t.Error("an unknown token is accepted")
	}
	assert.Check(t, cached(w.Authenticator) == 2, "the cache has %d entries, want 2", cached(w.Authenticator))
}

// TestOutdatedEntries checks that an outdated cache entry refuses nobody, and that a token without
// the capability counts as used.
func TestOutdatedEntries(t *testing.T) {
	w := newWorld(t)
	spec := api.CreateMailbox.Spec
	setStatus := func(status string) {
		w.update(t, func(tx store.Tx) error {
			_, err := store.Update(tx, accountID, accountID, func(a *store.Account) error { a.Status = status; return nil })
			return err
		})
	}
	ungranted := NewToken(random.New(nil))
	account := NewServiceAccount(ungranted, "ungranted", accountID, "ungranted", w.now)
	w.update(t, func(tx store.Tx) error { return tx.Create(&account) })
	setStatus(vocab.AccountCancelled)
	who, err := w.Preauthorize(t.Context(), w.token.caller(), spec)
	assert.Check(t, err == nil && who.MayChange(spec) != nil, "%v, cancelled", err)
	_, err = w.Preauthorize(t.Context(), ungranted.caller(), spec)
	assert.Check(t, err != nil && w.LastUses.Of(account).Equal(account.CreatedAt), "without a grant: %v, used at %s", err, w.LastUses.Of(account))

	setStatus(vocab.AccountActive)
	w.grant(t, store.Subject{Type: vocab.SubjectServiceAccount, ID: "ungranted"})
	for _, token := range []Token{w.token, ungranted} {
		who, err := w.Preauthorize(t.Context(), token.caller(), spec)
		assert.Check(t, err == nil && who.MayChange(spec) == nil, "%s: %v, %+v", token.PublicID, err, who)
	}
}

// TestEntriesExpire checks that a revoked token stops working even if the version of authorizations does not change.
func TestEntriesExpire(t *testing.T) {
	w := newWorld(t)
	w.watched.stuck = true
	passed, start := time.Duration(0), time.Now()
	w.cache.clock = func() time.Time { return start.Add(passed) }
	accepted := func() bool {
		_, err := w.identify(t.Context(), w.token.String())
		return err == nil
	}
	assert.Assert(t, accepted())
	w.update(t, func(tx store.Tx) error {
		_, err := store.Update(tx, accountID, "ci", func(a *store.ServiceAccount) error { a.RevokedAt = w.now; return nil })
		return err
	})
	w.now = w.now.Add(-time.Hour) // the clock of the service does not matter
	passed = greatestAge - 1
	assert.Check(t, accepted(), "the entry expired too early")
	passed = greatestAge
	assert.Check(t, !accepted(), "a revoked token works")
}

func TestCacheIsBounded(t *testing.T) {
	w := Authenticator{cache: cache{clock: time.Now}}
	large := entry{grants: make([]store.Authorization, cacheSize/2)}
	for n := range 4 {
		w.cache.put(fmt.Sprint(n), entry{version: 1})
		w.cache.put(fmt.Sprint(n), large)
		e, ok := w.cache.get(fmt.Sprint(n))
		assert.Assert(t, ok && e.version == 0 && len(e.grants) == len(large.grants), "%t, an entry of version %d with %d grants", ok, e.version, len(e.grants))
		assert.Assert(t, cached(&w) == 1, "%d large entries are left", cached(&w))
	}
	w.cache = cache{clock: time.Now}
	for n := range cacheSize {
		w.cache.put(fmt.Sprint(n), entry{})
	}
	assert.Check(t, cached(&w) == cacheSize, "%d entries are left before the cache is full", cached(&w))
	w.cache.put("one more", entry{})
	assert.Check(t, cached(&w) == 1, "%d entries are left of a full cache", cached(&w))
}

// cached returns the number of entries in the cache.
func cached(a *Authenticator) (n int) {
	a.cache.entries.Range(func(any, any) bool { n++; return true })
	return n
}

// TestKeys checks that different callers use different cache entries.
func TestKeys(t *testing.T) {
	user := func(subjects ...string) Caller {
		c := Caller{AccountID: accountID}
		for _, s := range subjects {
			kind, id, _ := strings.Cut(s, " ")
			c.Subjects = append(c.Subjects, store.Subject{Type: kind, ID: id})
		}
		return c
	}
	other := user("user a")
	other.AccountID = "other"
	seen := map[string]bool{}
	for _, c := range []Caller{
		user("user a"), other, user("group a"), user("user a", "group b"), user(`user a" "group" "b`), user("user a} {group b"), {publicID: "a"},
	} {
		if key := c.key(); seen[key] || len(key) > 100 {
			t.Errorf("%+v has the key %q", c, key)
		} else {
			seen[key] = true
		}
	}
}

// TestWithin checks that a restriction applies to one capability only, and that a wider grant ends
// it.
func TestWithin(t *testing.T) {
	grant := func(capability vocab.Capability, typ, id string) store.Authorization {
		return store.Authorization{GrantKind: vocab.GrantCapability, CapabilityKey: string(capability), ResourceType: typ, ResourceID: id}
	}
	c := Caller{Grants: []store.Authorization{
		grant(vocab.CapMailboxView, vocab.ResourceDomain, "d"), grant(vocab.CapMailboxView, vocab.ResourceWorkspace, "w"),
		grant(vocab.CapDomainView, vocab.ResourceDomain, "other"), grant(vocab.CapDNSRecordView, vocab.ResourceDomain, "d"), grant(vocab.CapDNSRecordView, "", ""),
	}}
	for capability, want := range map[vocab.Capability]store.Within{
		vocab.CapMailboxView:       {Restricted: true, Workspaces: []string{"w"}, Domains: []string{"d"}},
		vocab.CapDomainView:        {Restricted: true, Domains: []string{"other"}},
		vocab.CapDNSRecordView:     {},
		vocab.CapAuthorizationView: {Restricted: true},
	} {
		got := c.Within(capability)
		assert.Check(t, reflect.DeepEqual(got, want), "%s: %+v, want %+v", capability, got, want)
		owner := Caller{Grants: append(c.Grants, store.Authorization{GrantKind: vocab.GrantAccountOwner})}
		got = owner.Within(capability)
		assert.Check(t, !got.Restricted, "%s of an owner: %+v", capability, got)
	}
}

// TestErrorDescription checks that the header contains only characters of RFC 6750, section 3.
func TestErrorDescription(t *testing.T) {
	w := httptest.NewRecorder()
	invalidToken(api.TypeInvalidToken, " a~\x7f\x1f\n\"b\\ü!#[]").Write(w)
	if got, want := w.Header().Get("WWW-Authenticate"), `Bearer error="invalid_token", error_description=" a~b!#[]"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestChosenToken checks the form of a token that a test chose, and that the error contains its
// checksum.
func TestChosenToken(t *testing.T) {
	whole := Token{PublicID: "ci", secret: "secret"}.String()
	for token, want := range map[string]string{
		whole: "", Token{secret: "secret"}.String(): "has the form", "mhsa_ci_secret": "needs a checksum at its end: " + whole,
		"mhsa_ci": "has the form", "mhsa__secret": "has the form", "mhsa_ci_": "has the form", "mhsa_ci_a_b": "has the form",
	} {
		got, err := ChosenToken(token)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && got.String() != whole {
			t.Errorf("%s: %s, %v; want %q", token, got, err, want)
		}
	}
}
