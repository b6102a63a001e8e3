package apiserver_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

func TestServiceAccount(t *testing.T) {
	h := newHarness(t)
	a := h.post("/auth/service-accounts", obj{"name": "ci", "expires_at": "2027-01-01T01:00:00+01:00"}).want(201).is(
		"account_id", accountID, "name", "ci", "token_prefix", "mhsa", "expires_at", "2027-01-01T00:00:00.000000Z", "last_used_at", nil,
		"revoked_at", nil, "revoked_by_user_id", nil, "created_at", "2026-03-14T15:09:26.535897Z",
	)
	token := a.str("token")
	parts := regexp.MustCompile(`^mhsa_([a-z2-7]+)_([a-z2-7]{52})([a-z2-7]{7})$`).FindStringSubmatch(token)
	if parts == nil {
		t.Fatalf("the token is %q", token)
	}
	a.is("token_public_id", parts[1], "token_last4", token[len(token)-4:])
	if got := tokenChecksum(strings.TrimSuffix(token, parts[3])); got != parts[3] {
		t.Errorf("the checksum is %s; want %s", parts[3], got)
	}
	for _, got := range []*answer{h.get("/auth/service-accounts"), h.get("/auth/service-accounts/" + a.str("id")), h.get("/auth/authorizations")} {
		if s := string(got.raw); strings.Contains(s, parts[2]) || strings.Contains(s, `"token"`) {
			t.Errorf("the token is told again: %s", got)
		}
	}
	if again := h.post("/auth/service-accounts", obj{"name": "ci"}).want(201); again.str("token") == token || again.str("token_public_id") == parts[1] {
		t.Error("two tokens are the same")
	}
}

func TestServiceAccountInput(t *testing.T) {
	h := newHarness(t)
	h.post("/auth/service-accounts", obj{"name": strings.Repeat("ü", 120)}).want(201)
	h.post("/auth/service-accounts", obj{"name": strings.Repeat("x", 121), "expires_at": "tomorrow"}).
		refused(422, "body.expires_at datetime_from_date_parsing", "body.name string_too_long")
	for _, past := range []string{"2026-03-14T15:09:26.535897Z", "2026-03-14T15:09:26Z", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z"} {
		h.post("/auth/service-accounts", obj{"name": "x", "expires_at": past}).refused(422, "body.expires_at value_error")
	}
	h.post("/auth/service-accounts", obj{"name": "x", "expires_at": "2026-03-14T15:09:26.535898Z"}).want(201)
	h.post("/auth/service-accounts", obj{"name": "x", "expires_at": nil}).want(201).is("expires_at", nil)
	h.post("/auth/service-accounts", obj{"name": "x", "expires_at": "9999-12-31T23:59:59Z"}).want(201).is("expires_at", "9999-12-31T23:59:59.000000Z")
	h.post("/auth/service-accounts", obj{"name": "x", "expires_at": "9999-12-31T23:59:59-05:00"}).refused(422, "body.expires_at value_error")
}

func TestServiceAccountInheritsGrants(t *testing.T) {
	h := newHarness(t)
	domain := h.domain("example.com")
	creator := h.limited(t, grant{capability: "service_account.create"}, grant{"mailbox.view", "domain", domain})
	child := creator.post("/auth/service-accounts", obj{"name": "child"}).want(201)
	c := h.as(child.str("token"))
	c.get("/mailboxes").want(200)
	c.get("/domains").refused(403, "header.Authorization permission_denied")
	c.post("/auth/service-accounts", obj{"name": "grandchild"}).want(201)
	grants := h.get("/auth/authorizations?subject_id="+child.str("id")).want(200).is("2", nil)
	for i := range 2 {
		grants.is(itoa(i)+".subject_type", "service_account", itoa(i)+".grant_kind", "capability")
	}
	// What the creator gets later, the child does not.
	creatorID := h.get("/auth/service-accounts").want(200).str("items.0.id")
	h.post("/auth/authorizations", obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": creatorID, "capability_key": "domain.view"}).want(201)
	creator.get("/domains").want(200)
	c.get("/domains").want(403)
}

func TestRevokeServiceAccount(t *testing.T) {
	h := newHarness(t)
	a := h.post("/auth/service-accounts", obj{"name": "x"}).want(201)
	path := "/auth/service-accounts/" + a.str("id")
	c := h.as(a.str("token"))
	c.get("/mailboxes").want(200)
	h.clock.Advance(time.Minute)
	h.delete(path).want(204)
	c.get("/mailboxes").refused(401, "header.Authorization token_revoked")
	revoked := h.get(path).want(200).is("revoked_at", "2026-03-14T15:10:26.535897Z")
	if revoked.str("revoked_by_user_id") == "" || revoked.str("revoked_by_user_id") != a.str("created_by_user_id") {
		t.Errorf("revoked by nobody: %s", revoked)
	}
	h.clock.Advance(time.Minute)
	h.delete(path).want(204)
	h.get(path).want(200).is("revoked_at", "2026-03-14T15:10:26.535897Z")
	h.delete("/auth/service-accounts/"+nobody).refused(404, "path.service_account_id not_found")
	h.get("/auth/service-accounts/"+nobody).refused(404, "path.service_account_id not_found")
	h.get("/auth/service-accounts").is("total", 1)
}

func TestLastUsed(t *testing.T) {
	h := newHarness(t)
	a := h.post("/auth/service-accounts", obj{"name": "x"}).want(201)
	path, c := "/auth/service-accounts/"+a.str("id"), h.as(a.str("token"))
	used := func(want any) {
		t.Helper()
		h.get(path).is("last_used_at", want)
	}
	used(nil)
	c.get("/mailboxes")
	used("2026-03-14T15:09:00.000000Z")
	h.clock.Advance(30 * time.Second) // 15:09:56
	c.get("/mailboxes?page=0")
	used("2026-03-14T15:09:00.000000Z")
	h.clock.Advance(4 * time.Second) // 15:10:00
	used("2026-03-14T15:09:00.000000Z")
	c.get("/nothing")
	used("2026-03-14T15:09:00.000000Z")
	c.delete("/mailboxes/" + nobody)
	used("2026-03-14T15:10:00.000000Z")
	if got := h.get(path).str("updated_at"); got != a.str("updated_at") {
		t.Errorf("a use is an update: %s", got)
	}
}

// countingStore counts the updates.
type countingStore struct {
	store.Store
	updates int
}

func (s *countingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	s.updates++
	return s.Store.Update(ctx, fn)
}

// Uses cost no write of their own: the next change writes them, or Close.
func TestLastUsedIsWrittenLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mailhost.db")
	open := func() *countingStore {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return &countingStore{Store: s}
	}
	s := open()
	h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
	a := h.post("/auth/service-accounts", obj{"name": "x"}).want(201)
	c, id := h.as(a.str("token")), a.str("id")
	s.updates = 0
	for range 5 {
		c.get("/mailboxes").want(200)
		h.clock.Advance(10 * time.Second)
	}
	if s.updates != 0 {
		t.Errorf("five reads cost %d writes", s.updates)
	}
	const first, second = "2026-03-14T15:09:00.000000Z", "2026-03-14T15:11:00.000000Z"
	stored := func() string {
		t.Helper()
		var used string
		if err := s.View(t.Context(), func(r store.Reader) error {
			a, err := r.ServiceAccount(accountID, id)
			used = a.LastUsedAt.Format(api.TimestampLayout)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return used
	}
	h.post("/workspaces", obj{"name": "w"}).want(201)
	if got := stored(); s.updates != 1 || got < first {
		t.Errorf("after a change %s is stored, with %d writes", got, s.updates)
	}
	h.clock.Advance(time.Minute)
	c.get("/mailboxes").want(200)
	h.get("/auth/service-accounts/"+id).is("last_used_at", second)
	h.get("/auth/service-accounts").is("items.0.last_used_at", second)
	if err := h.svc.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	if got := stored(); got != second {
		t.Errorf("after Close %s is stored", got)
	}
}

// A read does not wait for the write lock, not even the first one of a token.
func TestReadsDontWaitForWrites(t *testing.T) {
	s := newStore(t)
	h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
	c := h.as(h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- s.Update(context.WithoutCancel(t.Context()), func(store.Tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // the write lock is held until the test ends
	defer cancel()
	a, err := c.try(ctx, "GET", "/mailboxes", nil)
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.want(200)
}

// The uses of a service account that is gone don't keep others from being written.
func TestLastUsedOfWhatIsGone(t *testing.T) {
	h := newHarness(t)
	c := h.as(h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	c.get("/mailboxes").want(200)
	if err := h.svc.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	h.owner(t, accountID).post("/workspaces", obj{"name": "w"}).want(201)
}
