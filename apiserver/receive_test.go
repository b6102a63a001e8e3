package apiserver_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// TestBodyMemoryIsUsedUp checks that large requests get a 503 while others use all the memory,
// and that small ones do not.
func TestBodyMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) { o.BodyMemory = 4<<20 + 100<<10 })
	large := func(name string) string { return `{"name":"` + name + `","x":"` + strings.Repeat("x", 200<<10) + `"}` }
	sent, resume := make(chan struct{}), make(chan struct{})
	first := make(chan *apitest.Response, 1)
	go func() {
		a, _ := h.Try(context.WithoutCancel(t.Context()), "POST", "/workspaces", io.MultiReader(
			strings.NewReader(large("a")), readerFunc(func() { close(sent); <-resume })))
		first <- a
	}()
	apitest.Receive(t, sent)
	a := h.Post("/workspaces", large("b")).Refused(503, "body unavailable")
	assert.Check(t, a.Header.Get("Retry-After") == "1", "no Retry-After: %v", a.Header)
	h.Post("/workspaces", obj{"name": "small"}).Want(201)
	close(resume)
	a = apitest.Receive(t, first)
	assert.Check(t, a != nil && a.Status == 201, "the first upload: %v", a)
	h.Post("/workspaces", large("b")).Want(201) // the memory is free again
}

// readerFunc is an empty reader that calls a function first.
type readerFunc func()

func (f readerFunc) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	body := func(attributes string) string {
		return `{"title":"t","description":"d","attributes":{"a": "` + attributes + `"}}`
	}
	const most = 16384 - len(`{"a":""}`)
	h.Post("/feedback", body(strings.Repeat("x", most))).Want(201)
	h.Post("/feedback", body(strings.Repeat("x", most+1))).Refused(422, "body.attributes value_error").Says("16384")
	c := h.As(h.Post("/auth/service-accounts", obj{"name": "x"}).Want(201).Str("token"))
	feedback := obj{"title": "t", "description": "d"}
	first := c.PostKeyed(key, "/feedback", feedback).Want(201)
	for range 19 {
		c.Post("/feedback", feedback).Want(201)
	}
	a := c.Post("/feedback", feedback).Refused(429, "header.Authorization rate_limited")
	assert.Check(t, a.Header.Get("Retry-After") == "60", "Retry-After is %q", a.Header.Get("Retry-After"))
	again := c.PostKeyed(key, "/feedback", feedback).Want(201)
	assert.Check(t, again.Str("id") == first.Str("id"), "a replay was rejected: %s", again)
	h.Post("/feedback", feedback).Want(201) // another credential
	h.Clock.Advance(time.Minute)
	c.Post("/feedback", feedback).Want(201)
	c.Post("/feedback", feedback).Want(429)
}
