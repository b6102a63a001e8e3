package forwarding_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const hour = time.Hour

// create creates a rule outside Terraform.
func create(t *testing.T, s *acctest.Server, body api.CreateForwardingBody) *api.Forwarding {
	t.Helper()
	f, err := s.Client.CreateForwarding(t.Context(), body)
	assert.NilError(t, err)
	return f
}

// confirm opens the verification link of the newest message.
func confirm(t *testing.T, s *acctest.Server) {
	t.Helper()
	messages := s.Service.Outbox()
	assert.Assert(t, len(messages) != 0, "no message was sent")
	link, err := url.Parse(messages[len(messages)-1].Link)
	assert.NilError(t, err)
	resp, err := http.Post(s.URL+link.Path, "", nil)
	assert.NilError(t, err)
	defer resp.Body.Close()
	assert.Assert(t, resp.StatusCode == http.StatusOK, "the verification link returns %s", resp.Status)
}

// rules lists the rules of the account.
func rules(t *testing.T, s *acctest.Server) []api.Forwarding {
	t.Helper()
	var all []api.Forwarding
	for f, err := range s.Client.ListForwarding(t.Context(), api.ListForwardingRequest{}) {
		assert.NilError(t, err)
		all = append(all, f)
	}
	return all
}
