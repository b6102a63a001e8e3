package serve_test

import (
	"net/http"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestLimits checks that the limits of the flags hold.
func TestLimits(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t, "--rate-limit", "4/1h", "--max-mailboxes", "1")
	c := s.As(t, owner)
	c.Domain("example.com")
	c.CreateMailbox("example.com", "jane").Want(http.StatusCreated)
	c.CreateMailbox("example.com", "john").Want(http.StatusConflict)
	c.Get("/mailboxes").Want(http.StatusOK)
	c.Get("/mailboxes").Want(http.StatusTooManyRequests)
}
