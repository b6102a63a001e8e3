package serve_test

import (
	"net/http"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

func TestRateLimit(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	c := mailhostdtest.Serve(t, database, "--rate-limit", "2/1h").As(t, owner)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusOK)
	c.Do(http.MethodGet, "/mailboxes", nil).Want(http.StatusTooManyRequests)
}

func TestMaxMailboxes(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	c := mailhostdtest.Serve(t, database, "--max-mailboxes", "1").As(t, owner)
	c.Domain("example.com")
	c.Do(http.MethodPost, "/mailboxes", mailhostdtest.Mailbox("example.com", "jane")).Want(http.StatusCreated)
	var bulk api.CreatedMailboxes
	c.Do(http.MethodPost, "/mailboxes/bulk", `{"domain":"example.com","items":[{"first_name":"A","last_name":"B","local_part":"john"}]}`).Want(http.StatusOK).Into(&bulk)
	if len(bulk.Failed) != 1 || bulk.Failed[0].Code != api.BulkQuotaExceeded {
		t.Errorf("%+v", bulk)
	}
}
