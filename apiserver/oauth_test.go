package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// issuer is a TokenVerifier with a fixed set of tokens. Each token maps to a User or an error.
type issuer struct {
	mu       sync.Mutex
	tokens   map[string]any
	received []string
}

func (i *issuer) VerifyToken(_ context.Context, token string) (identity.User, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.received = append(i.received, token)
	switch known := i.tokens[token].(type) {
	case identity.User:
		return known, nil
	case error:
		return identity.User{}, known
	}
	return identity.User{}, &identity.InvalidTokenError{Reason: "the access token is not known"}
}

// set replaces the result of a token.
func (i *issuer) set(token string, userOrError any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.tokens[token] = userOrError
}

// newIssued starts a service that accepts the tokens of an issuer.
func newIssued(t *testing.T, tokens map[string]any) (*apitest.Server, *issuer) {
	t.Helper()
	i := &issuer{tokens: tokens}
	return apitest.New(t, func(o *apiserver.Options) { o.Tokens = i }), i
}

// jane returns a user with two groups.
func jane() identity.User {
	return identity.User{ID: "auth0|jane", Groups: []string{"ops", "Staff"}, Email: "jane@example.net", Name: "Jane Doe"}
}

func TestGrantsOfUsersAndGroups(t *testing.T) {
	for _, tt := range []struct {
		name, subjectType, subjectID string
		has                          bool
	}{
		{"the user", "user", "auth0|jane", true},
		{"a group", "group", "ops", true},
		{"another group", "group", "Staff", true},
		{"another user", "user", "auth0|john", false},
		{"a user in another case", "user", "AUTH0|JANE", false},
		{"a group in another case", "group", "staff", false},
		{"a part of a group", "group", "op", false},
		{"a user named like the group", "user", "ops", false},
		{"a group named like the user", "group", "auth0|jane", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, _ := newIssued(t, map[string]any{"t": jane()})
			h.Domain("example.com")
			h.GrantTo(tt.subjectType, tt.subjectID, apitest.Grant{Capability: vocab.CapDomainView})
			c := h.As("t")
			if !tt.has {
				c.Get("/domains").Refused(403, "header.Authorization permission_denied")
				return
			}
			c.Get("/domains").Want(200).Is("total", 1)
			c.Get("/mailboxes").Refused(403, "header.Authorization permission_denied").Says("mailbox.view")
			c.Do("DELETE", "/domains/example.com", nil).Refused(403, "header.Authorization permission_denied").Says("domain.delete")
		})
	}
}

// TestGrantsOfUsersAddUp checks that a user has the permissions of the user's own grants
// and of the groups' grants together.
func TestGrantsOfUsersAddUp(t *testing.T) {
	h, _ := newIssued(t, map[string]any{"t": jane()})
	e := newEstate(h.Client)
	h.GrantTo("user", "auth0|jane", apitest.GrantOn(vocab.CapMailboxView, "domain", e[0]["domain"]))
	c := h.As("t")
	c.Get("/mailboxes").Want(200).Is("total", 1, "items.0.primary_email", "sample@seen.com")
	c.Get("/mailboxes/sample@hidden.com").Refused(404, "path.mailbox not_found")
	group := h.GrantTo("group", "ops", apitest.GrantOn(vocab.CapMailboxView, "workspace", e[1]["workspace_id"]))
	c.Get("/mailboxes").Want(200).Is("total", 2)
	h.Delete("/auth/authorizations/" + group).Want(204)
	c.Get("/mailboxes").Want(200).Is("total", 1)
}

// TestAccountsThatGrantAUserNothing checks that a user without grants gets the same response for
// every account, existing or not, and that a service account of another account gets this response
// too.
func TestAccountsThatGrantAUserNothing(t *testing.T) {
	const mine = "22222222-2222-4333-8444-555555555555"
	h, _ := newIssued(t, map[string]any{"t": jane(), "stranger": identity.User{ID: "stranger"}})
	other := h.Owner(t, mine)
	other.GrantOwner("group", "ops")
	h.GrantTo("user", "auth0|john", apitest.Grant{Capability: vocab.CapMailboxView})
	h.Delete("/auth/authorizations/" + h.GrantOwner("user", "auth0|jane")).Want(204)
	foreign := h.As(other.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	for _, spec := range api.Specs() {
		want := newRequest(t, spec).send(foreign).Refused(403, "header.Authorization permission_denied")
		for _, c := range []*apitest.Client{h.As("t"), h.As("stranger")} {
			for _, account := range []string{accountID, strings.ToUpper(accountID), nobody, "not-a-uuid", "00000000-0000-0000-0000-000000000000"} {
				r := newRequest(t, spec)
				r.path["account_id"] = account
				got := r.send(c).Want(403)
				for _, a := range []*apitest.Response{got, want} {
					a.Header.Del("X-Request-Id")
				}
				assert.Check(t, string(got.Raw) == string(want.Raw) && reflect.DeepEqual(got.Header, want.Header), "%s in %s: %s %v\nwant %s %v", spec.ID, account, got, got.Header, want, want.Header)
			}
		}
	}
	c := h.As("t")
	c.Account = mine
	c.Get("").Want(200).Is("id", mine)
	c.Account = strings.ToUpper(mine)
	c.Get("").Want(200).Is("id", mine)
}

func TestFeedbackOfAUser(t *testing.T) {
	body := obj{"title": "T", "description": "D"}
	h, _ := newIssued(t, map[string]any{
		"t": jane(), "bare": identity.User{ID: "x", Groups: []string{"ops"}},
		"odd": identity.User{ID: "x", Groups: []string{"ops"}, Email: strings.Repeat("x", 256), Name: "a\x00b"},
	})
	h.As("t").Post("/feedback", body).Refused(403, "header.Authorization permission_denied")
	// A single grant of any capability is sufficient.
	id := h.GrantTo("group", "ops", apitest.GrantOn(vocab.CapDomainView, "domain", h.Domain("example.com")))
	h.As("t").Post("/feedback", body).Want(201).Is("submitter_email", "jane@example.net", "submitter_name", "Jane Doe",
		"created_by_user_id", api.DerivedID(accountID, "oauth-user:auth0|jane"))
	for _, token := range []string{"bare", "odd"} {
		h.As(token).Post("/feedback", body).Want(201).Is("submitter_email", nil, "submitter_name", nil)
	}
	h.Delete("/auth/authorizations/" + id).Want(204)
	h.As("t").Post("/feedback", body).Refused(403, "header.Authorization permission_denied")
}

// TestIDsOfUsers checks that responses identify a user by UUID: the subject itself, or a
// UUIDv5 if the subject is not a UUID.
func TestIDsOfUsers(t *testing.T) {
	const id = "3b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"
	h, _ := newIssued(t, map[string]any{
		"uuid": identity.User{ID: id}, "upper": identity.User{ID: strings.ToUpper(id)}, "owner": identity.User{ID: "owner"}, "text": jane(),
	})
	made := map[string]string{}
	for token, subject := range map[string]string{"uuid": id, "upper": strings.ToUpper(id), "owner": "owner", "text": "auth0|jane"} {
		h.GrantOwner("user", subject)
		a := h.As(token).Post("/auth/service-accounts", obj{"name": token}).Want(201)
		made[token] = a.Str("created_by_user_id")
		h.As(token).Delete("/auth/service-accounts/" + a.Str("id")).Want(204)
		h.Get("/auth/service-accounts/"+a.Str("id")).Want(200).Is("revoked_by_user_id", made[token])
	}
	assert.Check(t, made["uuid"] == id && made["upper"] == id, "a UUID subject was changed: %v", made)
	owner := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("created_by_user_id")
	assert.Check(t, made["owner"] != owner && made["owner"] != made["text"] && uuid.MustParse(made["text"]).Version() == 5, "the built-in owner is %s, and the users are %v", owner, made)
}

// TestUserCannotBeTheBuiltInOwner checks that a subject equal to the built-in owner's id, which is
// predictable, gets no permissions.
func TestUserCannotBeTheBuiltInOwner(t *testing.T) {
	owner := api.DerivedID(accountID, "user:owner")
	h, _ := newIssued(t, map[string]any{"t": identity.User{ID: owner}, "upper": identity.User{ID: strings.ToUpper(owner), Groups: []string{"ops"}}})
	h.GrantOwner("group", "ops")
	for _, token := range []string{"t", "upper"} {
		h.As(token).Get("/workspaces").Refused(403, "header.Authorization permission_denied")
		h.As(token).Post("/workspaces", obj{"name": "x"}).Refused(403, "header.Authorization permission_denied")
	}
}

// TestServiceAccountOfAUser checks that a service account inherits the grants of the user who
// creates it, including the groups' grants.
func TestServiceAccountOfAUser(t *testing.T) {
	h, _ := newIssued(t, map[string]any{"t": jane()})
	h.Domain("example.com")
	for _, g := range []vocab.Capability{vocab.CapServiceAccountCreate, vocab.CapMailboxView} {
		h.GrantTo("group", "ops", apitest.Grant{Capability: g})
		h.GrantTo("user", "auth0|jane", apitest.Grant{Capability: g})
	}
	made := h.As("t").Post("/auth/service-accounts", obj{"name": "ci"}).Want(201)
	inherited := h.Get("/auth/authorizations?subject_id=" + made.Str("id")).Want(200).JSON.([]any)
	assert.Check(t, len(inherited) == 2, "the service account inherits %v; want each grant once", inherited)
	c := h.As(made.Str("token"))
	c.Get("/mailboxes").Want(200)
	c.Get("/domains").Refused(403, "header.Authorization permission_denied")
}

func TestRefusedAccessTokens(t *testing.T) {
	groups := make([]string, 257)
	for i := range groups {
		groups[i] = fmt.Sprint("g", i)
	}
	long := strings.Repeat("ü", 256)
	invalid := func(reason string) string { return `Bearer error="invalid_token", error_description="` + reason + `"` }
	h, _ := newIssued(t, map[string]any{
		"expired":      fmt.Errorf("wrapped: %w", identity.ErrTokenExpired),
		"invalid":      &identity.InvalidTokenError{Reason: "the access token is \"odd\\\" – ü\r\nX: y"},
		"no sub":       identity.User{Groups: []string{"ops"}},
		"long sub":     identity.User{ID: long},
		"NUL in sub":   identity.User{ID: "a\x00"},
		"bidi in sub":  identity.User{ID: "a\u202eb"},
		"many groups":  identity.User{ID: "x", Groups: groups},
		"long group":   identity.User{ID: "x", Groups: []string{"ops", long}},
		"NUL in group": identity.User{ID: "x", Groups: []string{"a\x00"}},
	})
	for token, tt := range map[string]struct{ problem, msg, challenge string }{
		"expired":      {"token_expired", "the access token has expired", invalid("the access token has expired")},
		"invalid":      {"invalid_token", "the access token is \"odd\\\" – ü\r\nX: y", invalid("the access token is odd  X: y")},
		"unknown":      {"invalid_token", "is not known", invalid("the access token is not known")},
		"no sub":       {"invalid_token", "its sub claim is missing or empty", ""},
		"long sub":     {"invalid_token", "sub claim holds a name of more than 255 characters", ""},
		"NUL in sub":   {"invalid_token", "sub claim holds a control character", ""},
		"many groups":  {"invalid_token", "names 257 groups; at most 256 are accepted", ""},
		"long group":   {"invalid_token", "groups claim holds a name of more than 255 characters", ""},
		"bidi in sub":  {"invalid_token", "sub claim holds a control character", ""},
		"NUL in group": {"invalid_token", "groups claim holds a control character", ""},
	} {
		t.Run(token, func(t *testing.T) {
			if tt.challenge == "" {
				tt.challenge = `Bearer error="invalid_token", error_description="the access token`
			}
			everywhere(t, h.As("").In(t), "Bearer "+token, tt.problem, tt.challenge)
			a := h.As("").In(t).Do("GET", "/mailboxes", nil, "Authorization", "Bearer "+token).Says(tt.msg)
			got := a.Header.Get("WWW-Authenticate")
			assert.Check(t, strings.Count(got, `"`) == 4, "WWW-Authenticate is %q", got)
		})
	}
}

// TestBoundsOfAUser checks that a subject and groups of the maximum length and number are
// accepted.
func TestBoundsOfAUser(t *testing.T) {
	longest := strings.Repeat("ü", 255)
	groups := make([]string, 256)
	groups[255] = longest
	h, _ := newIssued(t, map[string]any{"t": identity.User{ID: longest, Groups: groups}})
	h.As("t").Get("").Refused(403, "header.Authorization permission_denied")
	h.GrantOwner("group", longest)
	h.As("t").Get("").Want(200)
}

func TestIssuerUnavailable(t *testing.T) {
	h, _ := newIssued(t, map[string]any{
		"soon":   fmt.Errorf("wrapped: %w", &identity.IssuerUnavailableError{}),
		"later":  &identity.IssuerUnavailableError{RetryAfter: 1500 * time.Millisecond},
		"broken": errors.New("internal detail"),
	})
	for token, after := range map[string]string{"soon": "1", "later": "2"} {
		for _, spec := range api.Specs() {
			a := newRequest(t, spec).send(h.As(token)).Want(503).Says("the OAuth issuer can't be reached")
			assert.Assert(t, a.Header.Get("Retry-After") == after && a.Header.Get("WWW-Authenticate") == "", "%s: %v", token, a.Header)
		}
	}
	a := h.As("broken").Get("/mailboxes").Refused(500, "header internal_error")
	assert.Check(t, !strings.Contains(string(a.Raw), "internal detail"), "the response contains the internal error: %s", a)
	// Service accounts need no issuer.
	h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token")).Get("/mailboxes").Want(200)
}

// TestTokensSentToTheIssuer checks that a service account's token is never sent to the
// issuer, even if it is malformed.
func TestTokensSentToTheIssuer(t *testing.T) {
	h, i := newIssued(t, map[string]any{})
	token := h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token")
	h.As(token).Get("/mailboxes").Want(200)
	for _, broken := range []string{token[:len(token)-1], token + "x", "mhsa_x"} {
		h.As(broken).Get("/mailboxes").Refused(401, "header.Authorization invalid_token").Says("malformed")
	}
	h.As("").Get("/mailboxes").Want(401)
	assert.Check(t, len(i.received) == 0, "the issuer received %q", i.received)
	h.As("ey.J.x").Get("/mailboxes").Want(401)
	same(t, "tokens sent to the issuer", i.received, []string{"ey.J.x"})
}
