package apiserver_test

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

const (
	key      = "0a1b2c3d-0000-4000-8000-00000000abcd"
	otherKey = "0a1b2c3d-0000-4000-8000-00000000abce"
)

// ready creates the objects that the valid body of an operation needs, and returns the request with
// their ids. Sent once, the request succeeds and changes something. Add the set-up here for an
// operation whose body refers to an object.
func ready(h *apitest.Server, r *request) *request {
	h.Domain("empty.com")
	h.Domain("example.com")
	h.Mailbox("example.com", "jane")
	for name := range r.path {
		switch name {
		case "account_id", "domain":
		case "workspace_id":
			r = r.broken([]string{"path", name}, h.DefaultWorkspace())
		default:
			r = r.broken([]string{"path", name}, h.Sample(name, "example.com"))
		}
	}
	switch r.spec.ID {
	case "delete-domain":
		r = r.broken([]string{"path", "domain"}, "empty.com")
	case "grant-authorization":
		r = r.broken([]string{"body", "resource_id"}, h.Get("/domains/example.com").Str("id"))
	}
	return r
}

func TestReplay(t *testing.T) {
	for _, spec := range api.Specs() {
		if !spec.Keyed() {
			continue
		}
		t.Run(spec.ID, func(t *testing.T) {
			h := apitest.New(t)
			r := ready(h, newRequest(t, spec))
			first := r.send(h.Client, "Idempotency-Key", key).Want(spec.Status)
			assert.Check(t, !first.Replayed(), "the first response is a replay: %v", first.Header)
			h.Clock.Advance(24*time.Hour - time.Microsecond)
			for _, k := range []string{key, strings.ToUpper(key), "{" + key + "}"} {
				again := r.send(h.Client, "Idempotency-Key", k).Want(spec.Status)
				assert.Check(t, again.Replayed() && string(again.Raw) == string(first.Raw), "%s replayed %t; want %s", again, again.Replayed(), first)
			}
			other := r.broken([]string{"body", "unknown"}, "x").send(h.Client, "Idempotency-Key", key)
			assert.Check(t, other.Replayed(), "an unknown field prevents the replay: %s", other)
			without := r.send(h.Client)
			assert.Check(t, !without.Replayed(), "a request without a key is a replay: %s", without)
		})
	}
}

func TestInvalidKeys(t *testing.T) {
	h := apitest.New(t)
	for _, k := range []string{"x", "123", key + "0", "null"} {
		h.PostKeyed(k, "/workspaces", obj{"name": "a"}).Refused(422, "header.Idempotency-Key uuid_parsing")
	}
	h.PostKeyed("x", "/workspaces", obj{}).Refused(422, "header.Idempotency-Key uuid_parsing", "body.name missing")
	// Requests that create nothing ignore the header.
	h.Do("GET", "/workspaces", nil, "Idempotency-Key", "x").Want(200)
	h.Do("POST", "/mailboxes/export", obj{}, "Idempotency-Key", "x").Want(200)
}

func TestKeyInFlight(t *testing.T) {
	s, held, release := newFaulty(t), make(chan struct{}), make(chan struct{})
	h := apitest.New(t, func(o *apiserver.Options) { o.Store = s })
	s.beforeUpdate(func() { close(held); <-release })
	first := make(chan *apitest.Response)
	go func() {
		a, err := h.Try(t.Context(), "POST", "/workspaces", obj{"name": "a"}, "Idempotency-Key", key)
		assert.Check(t, err)
		first <- a
	}()
	apitest.Receive(t, held)
	for _, name := range []string{"a", "b"} {
		a := h.PostKeyed(key, "/workspaces", obj{"name": name}).Refused(409, "header.Idempotency-Key conflict")
		assert.Check(t, a.Header.Get("Retry-After") == "1", "no Retry-After: %v", a.Header)
	}
	h.PostKeyed(otherKey, "/workspaces", obj{"name": "b"}).Want(201)
	close(release)
	created := apitest.Receive(t, first).Want(201)
	again := h.PostKeyed(key, "/workspaces", obj{"name": "a"}).Want(201)
	assert.Check(t, again.Replayed() && again.Str("id") == created.Str("id"), "%s; want a replay of %s", again, created)
}

// TestSecretsAtRest checks that the files of the database contain no secrets.
func TestSecretsAtRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mailhost.db")
	var h *apitest.Server
	secrets := map[string]string{"the key": key, "the value": "a-value-that-nobody-may-see"}
	t.Run("use", func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		assert.NilError(t, err)
		h = apitest.New(t, func(o *apiserver.Options) { o.Store, o.PasswordCost = s, apiserver.PasswordCost{} })
		_, owner, err := h.Service.InitAccount(t.Context(), accountID, "owner")
		assert.NilError(t, err)
		secrets["the owner's secret"] = secretOf(owner)
		h.Client = h.As(owner)
		for i, path := range []string{"/auth/service-accounts", "/credentials", "/credentials"} {
			k := uuid.NewString()
			body := obj{"name": "n" + itoa(i)}
			switch {
			case i == 1:
				body["generate"] = true
			case i == 2:
				k, body["value"] = key, secrets["the value"]
			}
			first := h.PostKeyed(k, path, body).Want(201)
			again := h.PostKeyed(k, path, body).Want(201)
			assert.Check(t, again.Replayed() && string(first.Raw) == string(again.Raw), "%s; want a replay of %s", again, first)
			if token := first.Str("token"); token != "" {
				h.As(token).Get("/mailboxes").Want(200)
				secrets["the token's secret"] = secretOf(token)
			}
			if generated := first.Str("generated_secret"); generated != "" {
				secrets["the generated secret"] = generated
			}
		}
		h.PostKeyed(uuid.NewString(), "/forwarding", obj{"target_email": "x@example.net"}).Want(201)
		h.Patch("/forwarding/"+h.Get("/forwarding").Str("items.0.id"), obj{"target_email": "y@example.net"}).Want(200)
		(&audited{Server: h}).click(t)
		link := h.Service.Outbox()[1].Link
		secrets["the link's secret"] = link[strings.LastIndex(link, "/")+1:]
		checkSecrets(t, path, secrets)
	})
	checkSecrets(t, path, secrets)
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "$argon2id$v=19$m=19456,t=2,p=1$") != 2 {
		t.Errorf("the master passwords are not stored as argon2id: %v", err)
	} else if !strings.Contains(string(data), api.CreateMasterPassword.ID) {
		t.Error("the audit log does not contain the requests")
	}
}

// secretOf returns the secret part of a service account's token.
func secretOf(token string) string { return strings.Split(token, "_")[2] }

// formsOf returns a secret, plain and in encoded and decoded forms.
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
	// A token's secret ends in a checksum. Its first 52 digits of base 32 encode its 32 bytes.
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
	assert.Assert(t, len(secrets) == 6, "the secrets are %v", secrets)
	files, err := filepath.Glob(path + "*")
	assert.NilError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		for name, secret := range secrets {
			for form, text := range formsOf(secret) {
				assert.Check(t, !strings.Contains(string(data), text), "%s contains %s as %s", filepath.Base(file), name, form)
			}
		}
	}
	assert.Check(t, slices.Contains(files, path), "the files are %q", files)
}
