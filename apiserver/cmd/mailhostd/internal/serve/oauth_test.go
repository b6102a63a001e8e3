package serve_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestOAuthAccessTokens(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	i.Set(func() { i.Down = true })
	token := func(audience string, expiry time.Time) string {
		return i.Token(audience, map[string]any{"roles": []string{"ops"}, "exp": expiry.Unix()})
	}
	later := time.Now().Add(time.Hour)
	good := token("mailhost", later)

	// The server starts although the issuer is down.
	s, owner := mailhostdtest.Start(t, "--oauth-issuer", i.URL, "--oauth-audience", "mailhost", "--oauth-groups-claim", "roles")
	as := func(token string) *apitest.Client {
		c := s.As(t, owner)
		c.Token = token
		return c
	}
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusServiceUnavailable)
	i.Set(func() { i.Down = false })
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusForbidden)
	as(owner.Token).GrantTo("group", "ops", apitest.Grant{Capability: vocab.CapMailboxView})
	as(good).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	as(good).Do(http.MethodGet, "/domains", nil).Want(http.StatusForbidden)
	as(token("other", later)).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusUnauthorized)
	as(token("mailhost", time.Now().Add(-time.Minute))).Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusUnauthorized)
	log := s.Log.String()
	assert.Check(t, !strings.Contains(log, good) && strings.Contains(log, "the OAuth issuer's keys can't be fetched"), "log:\n%s", log)
}
