package apiserver_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const (
	key      = "0a1b2c3d-0000-4000-8000-00000000abcd"
	otherKey = "0a1b2c3d-0000-4000-8000-00000000abce"
)

// keyed sends a POST under an Idempotency-Key.
func (c *client) keyed(key, path string, body any) *answer {
	c.t.Helper()
	return c.do("POST", path, body, "Idempotency-Key", key)
}

func (a *answer) replayed() bool { return a.header.Get("Idempotency-Replayed") == "true" }

// ready makes the account ready for the valid body of an operation, and returns
// the request with the ids of what is there: sent once, it succeeds and changes
// something. It is the one place where an operation's set-up is; a new operation
// adds its own here.
func ready(h *harness, r *request) *request {
	h.domain("empty.com")
	h.domain("example.com")
	h.mailbox("example.com", "jane")
	for name, id := range map[string]func() string{
		"credential_id": func() string { return h.password("old", obj{}) },
		"forwarding_id": func() string { return h.forwarding("old@example.net", obj{}) },
		"dns_record_id": func() string {
			a := h.post("/dns-records", obj{"domain": "example.com", "name": "@", "type": "MX", "value": "old.example.net", "prio": 5}).want(201)
			return idOf(a, "id")
		},
		"dedicated_ip_id": func() string {
			return h.post("/dedicated-ips/claim", obj{"option_id": h.option("eu")}).want(201).str("id")
		},
		"service_account_id": func() string { return h.post("/auth/service-accounts", obj{"name": "old"}).want(201).str("id") },
		"authorization_id":   func() string { return h.grantTo("group", "old", grant{capability: vocab.CapMailboxView}) },
		"workspace_id":       h.defaultWorkspace,
	} {
		if _, ok := r.path[name]; ok {
			r = r.broken([]string{"path", name}, id())
		}
	}
	switch r.spec.ID {
	case "delete-domain":
		r = r.broken([]string{"path", "domain"}, "empty.com")
	case "set-forwarding-active":
		r = r.broken([]string{"body", "active"}, false)
	case "purchase-domains":
		r = r.broken([]string{"body", "workspace_id"}, h.defaultWorkspace()).broken([]string{"body", "domains"}, []any{"new.com"})
	case "claim-dedicated-ip":
		r = r.broken([]string{"body", "option_id"}, h.option("eu"))
	case "grant-authorization":
		r = r.broken([]string{"body", "resource_id"}, h.get("/domains/example.com").str("id"))
	}
	return r
}

func TestReplay(t *testing.T) {
	for _, spec := range api.Specs() {
		if !spec.Keyed() {
			continue
		}
		t.Run(spec.ID, func(t *testing.T) {
			h := newHarness(t)
			r := ready(h, newRequest(t, spec))
			first := r.send(h.client, "Idempotency-Key", key).want(spec.Status)
			if first.replayed() {
				t.Errorf("the first answer is a replay: %v", first.header)
			}
			h.clock.Advance(24*time.Hour - time.Microsecond)
			for _, k := range []string{key, strings.ToUpper(key), "{" + key + "}"} {
				again := r.send(h.client, "Idempotency-Key", k).want(spec.Status)
				if !again.replayed() || string(again.raw) != string(first.raw) {
					t.Errorf("%s replayed %t; want %s", again, again.replayed(), first)
				}
			}
			other := r.broken([]string{"body", "unknown"}, "x").send(h.client, "Idempotency-Key", key)
			if !other.replayed() {
				t.Errorf("an unknown field makes another request: %s", other)
			}
			if without := r.send(h.client); without.replayed() {
				t.Errorf("a request without a key is a replay: %s", without)
			}
		})
	}
}

func TestReplayExpires(t *testing.T) {
	h := newHarness(t)
	first := h.keyed(key, "/workspaces", obj{"name": "a"}).want(201)
	h.clock.Advance(24 * time.Hour)
	h.keyed(key, "/workspaces", obj{"name": "a"}).refused(409, "body conflict").says(first.str("id"))
	if second := h.keyed(key, "/workspaces", obj{"name": "b"}).want(201); second.replayed() || second.str("id") == first.str("id") {
		t.Errorf("the key has not expired: %s", second)
	}
}

// The kept answer stays the answer when the time in the request has passed.
func TestReplayOfWhatIsInThePastByNow(t *testing.T) {
	h := newHarness(t)
	body := obj{"name": "ci", "expires_at": h.clock.Now().Add(time.Hour).Format(time.RFC3339)}
	h.keyed(key, "/auth/service-accounts", body).want(http.StatusCreated)
	h.clock.Advance(2 * time.Hour)
	if a := h.keyed(key, "/auth/service-accounts", body).want(http.StatusCreated); !a.replayed() {
		t.Errorf("%s is no replay", a)
	}
	h.keyed(otherKey, "/auth/service-accounts", body).refused(422, "body.expires_at value_error")
	h.post("/auth/service-accounts", obj{"name": "", "expires_at": body["expires_at"]}).
		refused(422, "body.name string_too_short", "body.expires_at value_error")
}

func TestKeyOfAnotherRequest(t *testing.T) {
	h := newHarness(t)
	h.keyed(key, "/workspaces", obj{"name": "a"}).want(201)
	const problem = "header.Idempotency-Key value_error"
	for range 2 {
		if a := h.keyed(key, "/workspaces", obj{"name": "b"}).refused(422, problem); a.replayed() {
			t.Error("it is a replay")
		}
	}
	h.keyed(key, "/feedback", obj{"title": "a", "description": "b"}).refused(422, problem)
	h.get("/workspaces").is("total", 2)
	h.keyed(key, "/workspaces", obj{"name": "a"}).want(201)
}

func TestKeysThatAreNone(t *testing.T) {
	h := newHarness(t)
	for _, k := range []string{"x", "123", key + "0", "null"} {
		h.keyed(k, "/workspaces", obj{"name": "a"}).refused(422, "header.Idempotency-Key uuid_parsing")
	}
	h.keyed("x", "/workspaces", obj{}).refused(422, "header.Idempotency-Key uuid_parsing", "body.name missing")
	// Where nothing is created the header means nothing.
	h.do("GET", "/workspaces", nil, "Idempotency-Key", "x").want(200)
	h.do("POST", "/mailboxes/export", obj{}, "Idempotency-Key", "x").want(200)
}

// Input that is refused for its form leaves the key free.
func TestKeyOfInvalidInput(t *testing.T) {
	h := newHarness(t)
	h.keyed(key, "/workspaces", obj{"name": ""}).refused(422, "body.name string_too_short")
	h.keyed(key, "/workspaces", obj{"name": "a"}).want(201)
}

// What changed nothing is evaluated again under the same key.
func TestRefusalsAreEvaluatedAgain(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	id := h.mailbox("example.com", "jane")
	body := obj{"domain": "example.com", "local_part": "jane", "first_name": "x", "last_name": "y"}
	h.keyed(key, "/mailboxes", body).refused(409, "body conflict").says(id)
	h.delete("/mailboxes/" + id).want(204)
	if a := h.keyed(key, "/mailboxes", body).want(201); a.replayed() {
		t.Error("it is a replay")
	}
	if a := h.keyed(key, "/mailboxes", body).want(201); !a.replayed() {
		t.Error("it is no replay")
	}
	h.keyed(key, "/mailboxes", obj{"domain": "example.com", "local_part": "joe", "first_name": "x", "last_name": "y"}).
		refused(422, "header.Idempotency-Key value_error")
}

// A success of which every item failed changed nothing either.
func TestSuccessesWithoutEffectAreEvaluatedAgain(t *testing.T) {
	h := newHarness(t)
	h.domain("example.com")
	id := h.mailbox("example.com", "jane")
	bulk := obj{"domain": "example.com", "items": []any{obj{"local_part": "jane", "first_name": "x", "last_name": "y"}}}
	h.keyed(key, "/mailboxes/bulk", bulk).want(200).is("failed.0.code", "already_exists")
	h.delete("/mailboxes/" + id).want(204)
	h.keyed(key, "/mailboxes/bulk", bulk).want(200).is("created.0.index", 0)
	if a := h.keyed(key, "/mailboxes/bulk", bulk).want(200); !a.replayed() {
		t.Error("the bulk create is no replay")
	}

	other := h.owner(t, nobody)
	domain := other.domain("rival.com")
	buy := obj{"domains": []string{"rival.com"}, "workspace_id": h.defaultWorkspace(), "contact_info": contact()}
	h.keyed(otherKey, "/domains/purchase", buy).want(200).is("successful_count", 0)
	other.delete("/domains/" + domain).want(204)
	h.keyed(otherKey, "/domains/purchase", buy).want(200).is("successful_count", 1)

	plan := uuid.NewString()
	current := h.post("/billing/change-plan", obj{}).want(200).str("target_plan_id")
	h.keyed(plan, "/billing/change-plan", obj{"plan_id": current}).want(200).is("eligible", false)
	h.post("/billing/change-plan", obj{}).want(200).is("eligible", true)
	h.keyed(plan, "/billing/change-plan", obj{"plan_id": current}).want(200).is("eligible", true)
}

func TestKeysOfOtherCallers(t *testing.T) {
	h := newHarness(t)
	a, b := h.limited(t, grant{capability: vocab.CapWorkspaceManage}), h.limited(t, grant{capability: vocab.CapWorkspaceManage})
	other := h.owner(t, nobody)
	ids := map[string]bool{}
	for i, c := range []*client{h.client, a, b, other} {
		answer := c.keyed(key, "/workspaces", obj{"name": itoa(i)}).want(201)
		ids[answer.str("id")] = true
	}
	if len(ids) != 4 {
		t.Errorf("the answers are %v", ids)
	}
}

// Who may do it no longer is not told what was answered.
func TestReplayNeedsTheCapability(t *testing.T) {
	h := newHarness(t)
	c := h.limited(t, grant{capability: vocab.CapWorkspaceManage})
	c.keyed(key, "/workspaces", obj{"name": "a"}).want(201)
	h.delete("/auth/authorizations/" + h.get("/auth/authorizations?capability_key=workspace.manage").str("0.id")).want(204)
	c.keyed(key, "/workspaces", obj{"name": "a"}).want(403)
}

// holdingStore holds its next update back until the test lets it go.
type holdingStore struct {
	store.Store
	hold          bool
	held, release chan struct{}
}

func (s *holdingStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	if s.hold {
		s.hold = false
		close(s.held)
		<-s.release
	}
	return s.Store.Update(ctx, fn)
}

func TestKeyUnderWay(t *testing.T) {
	s := &holdingStore{Store: newStore(t), held: make(chan struct{}), release: make(chan struct{})}
	h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
	s.hold = true
	first := make(chan *answer)
	go func() {
		a, err := h.try(t.Context(), "POST", "/workspaces", obj{"name": "a"}, "Idempotency-Key", key)
		if err != nil {
			t.Error(err)
		}
		first <- a
	}()
	<-s.held
	for _, name := range []string{"a", "b"} {
		a := h.keyed(key, "/workspaces", obj{"name": name}).refused(409, "header.Idempotency-Key conflict")
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("no Retry-After: %v", a.header)
		}
	}
	h.keyed(otherKey, "/workspaces", obj{"name": "b"}).want(201)
	close(s.release)
	created := (<-first).want(201)
	if again := h.keyed(key, "/workspaces", obj{"name": "a"}).want(201); !again.replayed() || again.str("id") != created.str("id") {
		t.Errorf("%s; want a replay of %s", again, created)
	}
}

// A failure inside is no answer: the key is free for the retry.
func TestKeyAfterAFailure(t *testing.T) {
	broken := &brokenStore{Store: newStore(t)}
	h := newHarness(t, func(o *apiserver.Options) { o.Store = broken })
	broken.failUpdates = true
	h.keyed(key, "/workspaces", obj{"name": "a"}).want(500)
	broken.failUpdates = false
	if a := h.keyed(key, "/workspaces", obj{"name": "a"}).want(201); a.replayed() {
		t.Error("it is a replay")
	}
}

// TestSecretsAtRest looks for secrets in the bytes of the database.
func TestSecretsAtRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mailhost.db")
	var h *harness
	secrets := map[string]string{"the key": key, "the value": "a-value-that-nobody-may-see"}
	t.Run("use", func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h = newHarness(t, func(o *apiserver.Options) { o.Store, o.PasswordCost = s, apiserver.PasswordCost{} })
		_, owner, err := h.svc.InitAccount(t.Context(), accountID, "owner")
		if err != nil {
			t.Fatal(err)
		}
		secrets["the owner's secret"] = secretOf(owner)
		h.client = h.as(owner)
		for i, path := range []string{"/auth/service-accounts", "/credentials", "/credentials"} {
			k := uuid.NewString()
			body := obj{"name": "n" + itoa(i)}
			switch {
			case i == 1:
				body["generate"] = true
			case i == 2:
				k, body["value"] = key, secrets["the value"]
			}
			first := h.keyed(k, path, body).want(201)
			again := h.keyed(k, path, body).want(201)
			if !again.replayed() || string(first.raw) != string(again.raw) {
				t.Errorf("%s; want a replay of %s", again, first)
			}
			if token := first.str("token"); token != "" {
				h.as(token).get("/mailboxes").want(200)
				secrets["the token's secret"] = secretOf(token)
			}
			if generated := first.str("generated_secret"); generated != "" {
				secrets["the generated secret"] = generated
			}
		}
		h.keyed(uuid.NewString(), "/forwarding", obj{"target_email": "x@example.net"}).want(201)
		h.patch("/forwarding/"+h.get("/forwarding").str("items.0.id"), obj{"target_email": "y@example.net"}).want(200)
		(&audited{harness: h}).click(t)
		link := h.svc.Outbox()[1].Link
		secrets["the link's secret"] = link[strings.LastIndex(link, "/")+1:]
		checkSecrets(t, path, secrets)
	})
	checkSecrets(t, path, secrets)
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "$argon2id$v=19$m=19456,t=2,p=1$") != 2 {
		t.Errorf("the master passwords are not kept as argon2id: %v", err)
	} else if !strings.Contains(string(data), api.CreateMasterPassword.ID) {
		t.Error("the audit log does not tell of them")
	}
}

// secretOf returns the part of a service account's token that nobody may see.
func secretOf(token string) string { return strings.Split(token, "_")[2] }

// formsOf returns a secret as it might be written down: as it is, encoded, and
// decoded.
func formsOf(secret string) map[string]string {
	encoded := []byte(secret)
	forms := map[string]string{
		"text": secret, "upper case": strings.ToUpper(secret), "hex": hex.EncodeToString(encoded),
		"base64": base64.RawStdEncoding.EncodeToString(encoded), "base64url": base64.RawURLEncoding.EncodeToString(encoded),
	}
	if id, err := uuid.Parse(secret); err == nil {
		forms["bytes"] = string(id[:])
		forms["hex of the bytes"] = hex.EncodeToString(id[:])
	}
	// A token's secret ends in a checksum; 52 digits of base 32 are its 32 bytes.
	if raw, err := tokenEncoding.DecodeString(secret[:min(len(secret), 52)]); err == nil && len(raw) >= 20 {
		forms["bytes"] = string(raw)
		forms["hex of the bytes"] = hex.EncodeToString(raw)
		forms["base64 of the bytes"] = base64.RawStdEncoding.EncodeToString(raw)
	}
	if raw, err := base64.RawURLEncoding.DecodeString(secret); err == nil && len(raw) == 32 {
		forms["bytes"] = string(raw)
		forms["hex of the bytes"] = hex.EncodeToString(raw)
	}
	return forms
}

func checkSecrets(t *testing.T, path string, secrets map[string]string) {
	t.Helper()
	if len(secrets) != 6 {
		t.Fatalf("the secrets are %v", secrets)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, secret := range secrets {
			for form, text := range formsOf(secret) {
				if strings.Contains(string(data), text) {
					t.Errorf("%s holds %s as %s", filepath.Base(file), name, form)
				}
			}
		}
	}
	if !slices.Contains(files, path) {
		t.Errorf("the files are %q", files)
	}
}

// An answer is the same over a restart.
func TestReplayAfterRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mailhost.db")
	var first *answer
	for i := range 2 {
		t.Run(itoa(i), func(t *testing.T) {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			h := newHarness(t, func(o *apiserver.Options) { o.Store = s })
			a := h.keyed(key, "/auth/service-accounts", obj{"name": "x"}).want(http.StatusCreated)
			if first == nil {
				first = a
			} else if !a.replayed() || string(a.raw) != string(first.raw) {
				t.Errorf("%s; want a replay of %s", a, first)
			}
		})
	}
}
