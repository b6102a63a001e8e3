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
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

func TestServiceAccount(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "ci", "expires_at": "2027-01-01T01:00:00+01:00"}).Want(201).Is(
		"account_id", accountID, "name", "ci", "token_prefix", "mhsa", "expires_at", "2027-01-01T00:00:00.000000Z", "last_used_at", nil,
		"revoked_at", nil, "revoked_by_user_id", nil, "created_at", "2026-03-14T15:09:26.535897Z",
	)
	token := a.Str("token")
	parts := regexp.MustCompile(`^mhsa_([a-z2-7]+)_([a-z2-7]{52})([a-z2-7]{7})$`).FindStringSubmatch(token)
	if parts == nil {
		t.Fatalf("the token is %q", token)
	}
	a.Is("token_public_id", parts[1], "token_last4", token[len(token)-4:])
	if got := tokenChecksum(strings.TrimSuffix(token, parts[3])); got != parts[3] {
		t.Errorf("the checksum is %s; want %s", parts[3], got)
	}
	for _, got := range []*apitest.Response{h.Get("/auth/service-accounts"), h.Get("/auth/service-accounts/" + a.Str("id")), h.Get("/auth/authorizations")} {
		if s := string(got.Raw); strings.Contains(s, parts[2]) || strings.Contains(s, `"token"`) {
			t.Errorf("the response contains the token again: %s", got)
		}
	}
	if again := h.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201); again.Str("token") == token || again.Str("token_public_id") == parts[1] {
		t.Error("two tokens are the same")
	}
}

func TestServiceAccountInput(t *testing.T) {
	h := apitest.New(t)
	h.Post("/auth/service-accounts", obj{"name": strings.Repeat("ü", 120)}).Want(201)
	h.Post("/auth/service-accounts", obj{"name": strings.Repeat("x", 121), "expires_at": "tomorrow"}).
		Refused(422, "body.expires_at datetime_from_date_parsing", "body.name string_too_long")
	for _, past := range []string{"2026-03-14T15:09:26.535897Z", "2026-03-14T15:09:26Z", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z"} {
		h.Post("/auth/service-accounts", obj{"name": "x", "expires_at": past}).Refused(422, "body.expires_at value_error")
	}
	h.Post("/auth/service-accounts", obj{"name": "x", "expires_at": "2026-03-14T15:09:26.535898Z"}).Want(201)
	h.Post("/auth/service-accounts", obj{"name": "x", "expires_at": nil}).Want(201).Is("expires_at", nil)
	h.Post("/auth/service-accounts", obj{"name": "x", "expires_at": "9999-12-31T23:59:59Z"}).Want(201).Is("expires_at", "9999-12-31T23:59:59.000000Z")
	h.Post("/auth/service-accounts", obj{"name": "x", "expires_at": "9999-12-31T23:59:59-05:00"}).Refused(422, "body.expires_at value_error")
}

func TestServiceAccountInheritsGrants(t *testing.T) {
	h := apitest.New(t)
	domain := h.Domain("example.com")
	creator := h.Limited(t, apitest.Grant{Capability: "service_account.create"}, apitest.GrantOn("mailbox.view", "domain", domain))
	child := creator.Post("/auth/service-accounts", obj{"name": "child"}).Want(201)
	c := h.As(child.Str("token"))
	h.Domain("other.com")
	h.Mailbox("example.com", "seen")
	h.Mailbox("other.com", "hidden")
	c.Get("/mailboxes").Want(200).Is("total", 1, "items.0.local_part", "seen") // the grant keeps its restriction
	c.Get("/domains").Refused(403, "header.Authorization permission_denied")
	c.Post("/auth/service-accounts", obj{"name": "grandchild"}).Want(201)
	grants := h.Get("/auth/authorizations?subject_id="+child.Str("id")).Want(200).Is("2", nil)
	for i := range 2 {
		grants.Is(itoa(i)+".subject_type", "service_account", itoa(i)+".grant_kind", "capability")
	}
	// Later grants to the creator are not inherited.
	creatorID := h.Get("/auth/service-accounts").Want(200).Str("items.0.id")
	h.Post("/auth/authorizations", obj{"grant_kind": "capability", "subject_type": "service_account", "subject_id": creatorID, "capability_key": "domain.view"}).Want(201)
	creator.Get("/domains").Want(200)
	c.Get("/domains").Want(403)
}

func TestRevokeServiceAccount(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201)
	path := "/auth/service-accounts/" + a.Str("id")
	c := h.As(a.Str("token"))
	c.Get("/mailboxes").Want(200)
	h.Clock.Advance(time.Minute)
	h.Delete(path).Want(204)
	c.Get("/mailboxes").Refused(401, "header.Authorization token_revoked")
	revoked := h.Get(path).Want(200).Is("revoked_at", "2026-03-14T15:10:26.535897Z")
	if revoked.Str("revoked_by_user_id") == "" || revoked.Str("revoked_by_user_id") != a.Str("created_by_user_id") {
		t.Errorf("no revoked_by_user_id: %s", revoked)
	}
	h.Clock.Advance(time.Minute)
	h.Delete(path).Want(204)
	h.Get(path).Want(200).Is("revoked_at", "2026-03-14T15:10:26.535897Z")
	h.Delete("/auth/service-accounts/"+nobody).Refused(404, "path.service_account_id not_found")
	h.Get("/auth/service-accounts/"+nobody).Refused(404, "path.service_account_id not_found")
	h.Get("/auth/service-accounts").Is("total", 1)
}

func TestLastUsed(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201)
	path, c := "/auth/service-accounts/"+a.Str("id"), h.As(a.Str("token"))
	used := func(want any) {
		t.Helper()
		h.Get(path).Is("last_used_at", want)
	}
	used(nil)
	c.Get("/mailboxes")
	used("2026-03-14T15:09:00.000000Z")
	h.Clock.Advance(30 * time.Second) // 15:09:56
	c.Get("/mailboxes?page=0")
	used("2026-03-14T15:09:00.000000Z")
	h.Clock.Advance(4 * time.Second) // 15:10:00
	used("2026-03-14T15:09:00.000000Z")
	c.Get("/nothing")
	used("2026-03-14T15:09:00.000000Z")
	c.Delete("/mailboxes/" + nobody)
	used("2026-03-14T15:10:00.000000Z")
	if got := h.Get(path).Str("updated_at"); got != a.Str("updated_at") {
		t.Errorf("a use changed updated_at: %s", got)
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

// TestLastUsedIsWrittenLater checks that the use of a token costs no write of its own:
// Close persists it, if no timer has done so before.
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
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	a := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201)
	c, id := h.As(a.Str("token")), a.Str("id")
	s.updates = 0
	for range 5 {
		c.Get("/mailboxes").Want(200)
		h.Clock.Advance(10 * time.Second)
	}
	if s.updates != 0 {
		t.Errorf("five reads caused %d writes", s.updates)
	}
	h.Clock.Advance(time.Minute)
	c.Get("/mailboxes").Want(200)
	const last = "2026-03-14T15:11:00.000000Z"
	h.Get("/auth/service-accounts/"+id).Is("last_used_at", last)
	h.Get("/auth/service-accounts").Is("items.0.last_used_at", last)
	if err := h.Service.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	if err := s.View(t.Context(), func(r store.Reader) error {
		a, err := r.ServiceAccount(accountID, id)
		if got := a.LastUsedAt.Format(api.TimestampLayout); got != last {
			t.Errorf("after Close %s is stored", got)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestReadsDontWaitForWrites checks that a read does not wait for the write lock, not
// even the first one with a token.
func TestReadsDontWaitForWrites(t *testing.T) {
	s := newStore(t)
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- s.Update(context.WithoutCancel(t.Context()), func(store.Tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	apitest.Receive(t, begun)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // a read that waits for the lock times out
	defer cancel()
	a, err := c.Try(ctx, "GET", "/mailboxes", nil)
	close(end)
	if err := apitest.Receive(t, ended); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.Want(200)
}
