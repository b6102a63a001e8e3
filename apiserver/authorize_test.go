package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// interruptedStore calls a function between a request's authentication and its
// snapshot or transaction.
type interruptedStore struct {
	store.Store
	beforeUpdate atomic.Pointer[func()]
	beforeView   atomic.Pointer[func()]
}

func (s *interruptedStore) View(ctx context.Context, fn func(store.Reader) error) error {
	if before := s.beforeView.Load(); before != nil {
		(*before)()
	}
	return s.Store.View(ctx, fn)
}

func (s *interruptedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	if before := s.beforeUpdate.Swap(nil); before != nil {
		(*before)()
	}
	return s.Store.Update(ctx, fn)
}

// losses are the ways in which a credential loses what it may do while its request
// is under way, with the refusal that must follow.
var losses = []struct {
	name    string
	lose    func(h *harness, serviceAccountID string)
	status  int
	problem string
}{
	{"revoked", func(h *harness, id string) { h.delete("/auth/service-accounts/" + id).want(204) }, 401, "header.Authorization token_revoked"},
	{"without grants", func(h *harness, id string) {
		for _, g := range h.get("/auth/authorizations?subject_id=" + id).want(200).json.([]any) {
			h.delete("/auth/authorizations/" + g.(obj)["id"].(string)).want(204)
		}
	}, 403, "header.Authorization permission_denied"},
	{"expired", func(h *harness, _ string) { h.clock.Advance(time.Minute) }, 401, "header.Authorization token_expired"},
	{"account cancelled", func(h *harness, _ string) {
		h.post("/billing/cancel-plan", obj{"cancel_immediately": true}).want(200)
	}, 403, "path.account_id account_cancelled"},
}

// An operation that reads or changes something does so with the authorization that
// holds in its own snapshot or transaction, whatever it was when the request arrived.
func TestAuthorizationHoldsUntilTheChange(t *testing.T) {
	t.Parallel()
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			t.Parallel()
			s := &interruptedStore{Store: newStore(t)}
			h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
			r := ready(h, newRequest(t, spec))
			for _, loss := range losses {
				account := h.post("/auth/service-accounts", obj{"name": "x", "expires_at": h.clock.Now().Add(time.Minute)}).want(201)
				c := h.as(account.str("token")).in(t)
				lose := func() { loss.lose(h, account.str("id")) }
				requestID := uuid.NewString()
				headers := []string{"X-Request-Id", requestID, "Idempotency-Key", uuid.NewString()}
				if spec.Changes() {
					s.beforeUpdate.Store(&lose)
				} else {
					s.loseBeforeRead(lose)
				}
				a := r.send(c, headers...)
				switch {
				case loss.name == "account cancelled" && (spec.WhenCancelled || !spec.Changes()):
					a.want(spec.Status)
					continue
				case loss.name == "without grants" && spec.Capability == "":
					a.want(spec.Status)
					continue
				}
				a.refused(loss.status, loss.problem)
				if err := s.View(t.Context(), func(r store.Reader) error {
					return r.EachAuditEntry(store.AuditFilter{RequestID: requestID}, func(e store.AuditEntry) error {
						t.Errorf("%s: the refused request changed something: %+v", loss.name, e)
						return nil
					})
				}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// loseBeforeRead calls lose before the third View of the next request: the first two
// authenticate it.
func (s *interruptedStore) loseBeforeRead(lose func()) {
	views := 0
	before := func() {
		if views++; views == 3 {
			s.beforeView.Store(nil)
			lose()
		}
	}
	s.beforeView.Store(&before)
}

// The built-in owner, who has no credential, loses its grant in the same way.
func TestOwnerClientIsAuthorizedInTheTransaction(t *testing.T) {
	t.Parallel()
	s := &interruptedStore{Store: newStore(t)}
	h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
	grant := h.get("/auth/authorizations").want(200).str("0.id")
	other := h.as(h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	lose := func() { other.delete("/auth/authorizations/" + grant).want(204) }
	s.beforeUpdate.Store(&lose)
	h.post("/workspaces", obj{"name": "w"}).refused(403, "header.Authorization permission_denied").says("workspace.manage")
}

// slowBody calls a function before the second half of a request body arrives.
type slowBody struct {
	parts [][]byte
	pause func()
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	if len(b.parts) == 1 {
		b.pause()
	}
	n := copy(p, b.parts[0])
	b.parts = b.parts[1:]
	return n, nil
}

// sendSlowly sends a POST request whose body pauses in its middle.
func (c *client) sendSlowly(path string, body any, pause func()) *answer {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	half := len(text) / 2
	return c.doReader("POST", path, &slowBody{parts: [][]byte{bytes.Clone(text[:half]), bytes.Clone(text[half:])}, pause: pause})
}

// A credential that is revoked while its body travels can't leave a new one behind.
func TestRevokedWhileTheBodyTravels(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := h.post("/auth/service-accounts", obj{"name": "x"}).want(201)
	c := h.as(a.str("token"))
	revoke := func() { h.delete("/auth/service-accounts/" + a.str("id")).want(204) }
	c.sendSlowly("/auth/service-accounts", obj{"name": "heir"}, revoke).refused(401, "header.Authorization token_revoked")
	c.sendSlowly("/mailboxes/export", obj{}, func() { t.Error("the body of a revoked credential was read") }).want(401)
	h.get("/auth/service-accounts").is("total", 1)
}

// A restricted grant that replaces a whole one while the body travels holds for the
// operation: what the handler decided from the old grants does not.
func TestGrantNarrowedWhileTheBodyTravels(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	e := newEstate(h)
	const create, view = vocab.CapMailboxCreate, vocab.CapMailboxView
	manage := vocab.CapAuthorizationManage
	for _, tt := range []struct {
		name, path string
		body       obj
		has        []grant
		then       grant
		status     int
		problem    string
	}{
		{"create", "/mailboxes", obj{"domain": "hidden.com", "local_part": "new", "first_name": "f", "last_name": "l"},
			[]grant{{capability: create}}, grant{create, "domain", e.domain[0]}, 422, "body.domain value_error"},
		{"export", "/mailboxes/export", obj{"domain": "hidden.com"},
			[]grant{{capability: vocab.CapMailboxExport}}, grant{vocab.CapMailboxExport, "workspace", e.workspace[0]}, 422, "body.domain value_error"},
		{"grant", "/auth/authorizations", obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": view},
			[]grant{{capability: manage}, {capability: view}}, grant{view, "domain", e.domain[0]}, 403, "header.Authorization permission_denied"},
	} {
		c := h.in(t)
		limited := h.limited(t, tt.has...)
		id := h.get("/auth/service-accounts?page_size=1000").want(200).each("id")
		subject := id[len(id)-1]
		limited.sendSlowly(tt.path, tt.body, func() {
			last := tt.has[len(tt.has)-1].capability
			c.delete("/auth/authorizations/" + c.get("/auth/authorizations?subject_id="+subject+"&capability_key="+string(last)).want(200).str("0.id")).want(204)
			c.grantTo("service_account", subject, tt.then)
		}).refused(tt.status, tt.problem)
	}
}

// A service account inherits the grants that its creator has when it is created.
func TestHeirOfFewerGrants(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.limited(t, grant{capability: vocab.CapServiceAccountCreate}, grant{capability: vocab.CapMailboxView})
	view := h.get("/auth/authorizations?capability_key=mailbox.view").want(200).str("0.id")
	heir := c.sendSlowly("/auth/service-accounts", obj{"name": "heir"}, func() { h.delete("/auth/authorizations/" + view).want(204) }).want(201)
	h.get("/auth/authorizations?subject_id="+heir.str("id")).want(200).is("0.capability_key", "service_account.create", "1", nil)
}

func TestAccessTokenExpiresWhileTheBodyTravels(t *testing.T) {
	t.Parallel()
	user := jane()
	user.ExpiresAt = start.Add(time.Minute)
	h, _ := newIssued(t, map[string]any{"t": user})
	h.own("group", "ops")
	c := h.as("t")
	c.sendSlowly("/workspaces", obj{"name": "a"}, func() { h.clock.Advance(time.Minute - time.Microsecond) }).want(201)
	c.sendSlowly("/workspaces", obj{"name": "b"}, func() { h.clock.Advance(time.Microsecond) }).refused(401, "header.Authorization token_expired")
	h.get("/workspaces").is("total", 2)
}

// Two owners that revoke each other at once leave one of them.
func TestOwnersRevokeEachOther(t *testing.T) {
	t.Parallel()
	for range 10 {
		h := newHarness(t)
		var owners [2]*client
		var ids [2]string
		for i := range owners {
			a := h.post("/auth/service-accounts", obj{"name": "owner"}).want(201)
			owners[i], ids[i] = h.as(a.str("token")), a.str("id")
		}
		var statuses [2]int
		var both sync.WaitGroup
		for i := range owners {
			both.Go(func() {
				if a, err := owners[i].try(t.Context(), "DELETE", "/auth/service-accounts/"+ids[1-i], nil); err == nil {
					statuses[i] = a.status
				}
			})
		}
		both.Wait()
		if statuses != [2]int{204, 401} && statuses != [2]int{401, 204} {
			t.Fatalf("the owners got %v", statuses)
		}
		last := 0
		if statuses[1] == 204 {
			last = 1
		}
		owners[last].delete("/auth/service-accounts/"+ids[last]).refused(409, "body conflict").says("owner")
	}
}
