package apiserver_test

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// TestMessagesOfAnAccountAreLimited checks what the response to a refused message says, and that
// a replay takes no token. The model test has when messages are refused.
func TestMessagesOfAnAccountAreLimited(t *testing.T) {
	h := apitest.New(t)
	for i := range 20 {
		h.Forwarding(fmt.Sprintf("x%d@example.net", i), obj{})
	}
	h.Clock.Advance(30 * time.Second)
	body := obj{"target_email": "another@example.net"}
	a := h.PostKeyed(key, "/forwarding", body).Refused(429, "body.target_email rate_limited").
		Says("for the account", "one in 60 s after that", "nothing was changed", "try again in 30 s")
	assert.Check(t, is.Equal(a.Header.Get("Retry-After"), "30"), "Retry-After")
	h.Clock.Advance(30 * time.Second)
	for range 2 {
		h.PostKeyed(key, "/forwarding", body).Want(201)
	}
	h.Clock.Advance(-100 * time.Hour) // a clock that is set back does not extend the wait
	h.Post("/forwarding", obj{"target_email": "third@example.net"}).Refused(429, "body.target_email rate_limited").Says("try again in 60 s")
}
