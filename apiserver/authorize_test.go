package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// losses are the ways in which a credential loses its permissions during a request, with the
// expected error.
var losses = []struct {
	name    string
	lose    func(h *apitest.Server, serviceAccountID string)
	status  int
	problem string
}{
	{"revoked", func(h *apitest.Server, id string) { h.Delete("/auth/service-accounts/" + id).Want(204) }, 401, "header.Authorization token_revoked"},
	{"without grants", func(h *apitest.Server, id string) {
		for _, g := range h.Get("/auth/authorizations?subject_id=" + id).Want(200).JSON.([]any) {
			h.Delete("/auth/authorizations/" + g.(obj)["id"].(string)).Want(204)
		}
	}, 403, "header.Authorization permission_denied"},
	{"expired", func(h *apitest.Server, _ string) { h.Clock.Advance(time.Minute) }, 401, "header.Authorization token_expired"},
	{"account cancelled", func(h *apitest.Server, _ string) {
		h.Post("/billing/cancel-plan", obj{"cancel_immediately": true}).Want(200)
	}, 403, "path.account_id account_cancelled"},
}

// TestAuthorizationHoldsUntilTheChange checks that an operation uses the authorization in its own
// snapshot or transaction, not the authorization at the request's arrival.
func TestAuthorizationHoldsUntilTheChange(t *testing.T) {
	t.Parallel()
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			t.Parallel()
			s := newFaulty(t)
			h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
			r := ready(h, newRequest(t, spec))
			for _, loss := range losses {
				account := h.Post("/auth/service-accounts", obj{"name": "x", "expires_at": h.Clock.Now().Add(time.Minute)}).Want(201)
				c := h.As(account.Str("token")).In(t)
				lose := func() { loss.lose(h, account.Str("id")) }
				requestID := uuid.NewString()
				headers := []string{"X-Request-Id", requestID, "Idempotency-Key", uuid.NewString()}
				if spec.Changes() {
					s.beforeUpdate(lose)
				} else {
					s.loseBeforeRead(lose)
				}
				a := r.send(c, headers...)
				switch {
				case loss.name == "account cancelled" && (spec.WhenCancelled || !spec.Changes()):
					a.Want(spec.Status)
					continue
				case loss.name == "without grants" && spec.Capability == "":
					a.Want(spec.Status)
					continue
				}
				a.Refused(loss.status, loss.problem)
				err := s.View(t.Context(), func(r store.Reader) error {
					return r.EachAuditEntry(store.AuditFilter{RequestID: requestID}, func(e store.AuditEntry) error {
						t.Errorf("%s: the rejected request changed something: %+v", loss.name, e)
						return nil
					})
				})
				assert.NilError(t, err)
			}
		})
	}
}

// loseBeforeRead calls lose before the second View of the next request. The first View
// authenticates the request.
func (s *faulty) loseBeforeRead(lose func()) {
	views := 0
	before := hook(func(context.Context) error {
		if views++; views == 2 {
			s.view.Store(nil)
			lose()
		}
		return nil
	})
	s.view.Store(&before)
}

// twoProcesses starts two services that share a database file, each with its own store.
// Both accept the access token "user".
func twoProcesses(t *testing.T) (h, other *apitest.Server) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mailhost.db")
	open := func(o *apiserver.Options) {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		assert.NilError(t, err)
		o.Store, o.Tokens = s, &issuer{tokens: map[string]any{"user": jane()}}
	}
	h, other = apitest.New(t, open), apitest.New(t, open)
	other.Clock = h.Clock
	return h, other
}

// TestAuthorizationOfOtherProcesses checks that a change by another process to a
// credential takes effect at once, although this process has cached the credential.
func TestAuthorizationOfOtherProcesses(t *testing.T) {
	t.Parallel()
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			t.Parallel()
			h, other := twoProcesses(t)
			id, c := h.ServiceAccount(h.Client, obj{"name": "x", "expires_at": h.Clock.Now().Add(time.Minute)})
			for range 2 {
				c.Get("/auth/service-accounts/" + id).Want(200)
				c.Post("/workspaces", obj{"name": uuid.NewString()}).Want(201)
			}
			loss.lose(other, id)
			if loss.name != "account cancelled" {
				c.Get("/auth/service-accounts/"+id).Refused(loss.status, loss.problem)
			}
			c.Post("/workspaces", obj{"name": "new"}).Refused(loss.status, loss.problem)
		})
	}
}

// TestGrantsOfUsersInOtherProcesses checks that a grant to a user takes effect at once in
// another process, and so does its revocation.
func TestGrantsOfUsersInOtherProcesses(t *testing.T) {
	t.Parallel()
	h, other := twoProcesses(t)
	for range 3 {
		h.As("user").Get("/mailboxes").Refused(403, "header.Authorization permission_denied")
		id := other.GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView})
		h.As("user").Get("/mailboxes").Want(200)
		h.As("user").Get("/domains").Refused(403, "header.Authorization permission_denied")
		other.Delete("/auth/authorizations/" + id).Want(204)
	}
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

// sendSlowly sends a POST request and calls pause in the middle of its body.
func sendSlowly(c *apitest.Client, path string, body any, pause func()) *apitest.Response {
	c.T.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.T.Fatal(err)
	}
	half := len(text) / 2
	return c.Do("POST", path, &slowBody{parts: [][]byte{bytes.Clone(text[:half]), bytes.Clone(text[half:])}, pause: pause})
}

// TestRevokedDuringUpload checks that a credential revoked during the upload of the body can't
// create another credential.
func TestRevokedDuringUpload(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	a := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201)
	c := h.As(a.Str("token"))
	revoke := func() { h.Delete("/auth/service-accounts/" + a.Str("id")).Want(204) }
	sendSlowly(c, "/auth/service-accounts", obj{"name": "heir"}, revoke).Refused(401, "header.Authorization token_revoked")
	sendSlowly(c, "/mailboxes/export", obj{}, func() { t.Error("the body of a revoked credential was read") }).Want(401)
	h.Get("/auth/service-accounts").Is("total", 1)
}

func TestAccessTokenExpiresDuringUpload(t *testing.T) {
	t.Parallel()
	user := jane()
	user.ExpiresAt = start.Add(time.Minute)
	h, _ := newIssued(t, map[string]any{"t": user})
	h.GrantOwner("group", "ops")
	c := h.As("t")
	sendSlowly(c, "/workspaces", obj{"name": "a"}, func() { h.Clock.Advance(time.Minute - time.Microsecond) }).Want(201)
	sendSlowly(c, "/workspaces", obj{"name": "b"}, func() { h.Clock.Advance(time.Microsecond) }).Refused(401, "header.Authorization token_expired")
	h.Get("/workspaces").Is("total", 2)
}

// TestOwnersRevokeEachOther checks that one owner remains when two owners revoke each
// other at the same time.
func TestOwnersRevokeEachOther(t *testing.T) {
	t.Parallel()
	for range 10 {
		h := apitest.New(t)
		var owners [2]*apitest.Client
		var ids [2]string
		for i := range owners {
			a := h.Post("/auth/service-accounts", obj{"name": "owner"}).Want(201)
			owners[i], ids[i] = h.As(a.Str("token")), a.Str("id")
		}
		var statuses [2]int
		var both sync.WaitGroup
		for i := range owners {
			both.Go(func() {
				if a, err := owners[i].Try(t.Context(), "DELETE", "/auth/service-accounts/"+ids[1-i], nil); err == nil {
					statuses[i] = a.Status
				}
			})
		}
		both.Wait()
		assert.Assert(t, statuses == [2]int{204, 401} || statuses == [2]int{401, 204}, "the owners got statuses %v", statuses)
		last := 0
		if statuses[1] == 204 {
			last = 1
		}
		owners[last].Delete("/auth/service-accounts/"+ids[last]).Refused(409, "body conflict").Says("owner")
	}
}

func TestRequiredCapabilities(t *testing.T) {
	h := apitest.New(t)
	withoutOne, withOne := map[vocab.Capability]*apitest.Client{}, map[vocab.Capability]*apitest.Client{}
	for _, one := range api.Capabilities() {
		var others []apitest.Grant
		for _, c := range api.Capabilities() {
			if c != one {
				others = append(others, apitest.Grant{Capability: c})
			}
		}
		withoutOne[one], withOne[one] = h.Limited(t, others...), h.Limited(t, apitest.Grant{Capability: one})
	}
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			if spec.Capability == "" {
				newRequest(t, spec).send(h.Limited(t)).Want(spec.Status)
				return
			}
			without, only := withoutOne[spec.Capability].In(t), withOne[spec.Capability].In(t)
			newRequest(t, spec).send(without).Refused(403, "header.Authorization permission_denied").Says(string(spec.Capability))
			// The capability is checked before the input is validated.
			newRequest(t, spec).broken([]string{"query", "page"}, "x").send(without).Want(403)
			r := newRequest(t, spec)
			if spec.ID == "grant-authorization" { // a caller can't grant more than its own grants allow
				r.body = obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": spec.Capability}
			}
			a := r.send(only)
			assert.Check(t, a.Status != 401 && a.Status != 403, "the capability is not enough: %s", a)
		})
	}
}

func TestRestrictedGrantIsNotSufficient(t *testing.T) {
	h := apitest.New(t)
	c := h.Restricted(t, "domain", h.Domain("example.com"))
	for _, spec := range api.Specs() {
		if spec.Narrowable || spec.Capability == "" {
			continue
		}
		newRequest(t, spec).send(c).Refused(403, "header.Authorization permission_denied").Says(string(spec.Capability))
	}
	// A service account inherits the restriction.
	domain := h.Domain("example.net")
	creator := h.Limited(t, apitest.Grant{Capability: vocab.CapServiceAccountCreate}, apitest.GrantOn(vocab.CapMailboxView, "domain", domain))
	_, heir := h.ServiceAccount(creator, obj{"name": "heir"})
	heir.Get("/auth/caller").Is("grants.1.resource_id", domain)
}

// estate contains two objects of each kind, by path parameter. A restricted caller sees the object
// at index 0. The object at index 1 is in another domain and workspace.
type estate [2]map[string]string

func newEstate(c *apitest.Client) (e estate) {
	for i, name := range []string{"seen.com", "hidden.com"} {
		e[i] = map[string]string{"workspace_id": c.Workspace(name)}
		e[i]["domain"] = c.Domain(name, e[i]["workspace_id"])
		for _, k := range sample.Kinds() {
			if k.New != nil {
				e[i][k.Parameter] = c.Sample(k.Parameter, name)
			}
		}
	}
	c.Forwarding("sample@example.net", nil)
	c.Password("sample", nil)
	return e
}
