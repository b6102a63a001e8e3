package apiserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

// stalledBody is an upload that stalls after its first part until resume is closed.
type stalledBody struct {
	first   io.Reader
	stalled func()
	resume  <-chan struct{}
	last    io.Reader
}

func (b *stalledBody) Read(p []byte) (int, error) {
	n, err := b.first.Read(p)
	if n > 0 || err != io.EOF {
		return n, nil
	}
	b.stalled()
	<-b.resume
	return b.last.Read(p)
}

// TestUnfinishedUploads checks that the unfinished uploads of one credential use a
// limited share of the memory. Small requests and other credentials are not affected.
func TestUnfinishedUploads(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) { o.BodyMemory = 4 << 20 })
	greedy := h.As(h.Post("/auth/service-accounts", obj{"name": "greedy"}).Want(201).Str("token"))
	other := h.As(h.Post("/auth/service-accounts", obj{"name": "other"}).Want(201).Str("token"))
	large := func(name string, size int) string {
		return `{"name":"` + name + `","unknown":"` + strings.Repeat("x", size) + `"}`
	}
	const uploads, size = 40, 200 << 10
	resume, settled := make(chan struct{}), make(chan struct{}, 2*uploads)
	responses := make([]*apitest.Response, uploads)
	var all sync.WaitGroup
	for i := range uploads {
		body := large("w"+itoa(i), size)
		all.Go(func() {
			stalled := false
			a, err := greedy.Try(context.WithoutCancel(t.Context()), "POST", "/workspaces", &stalledBody{
				first: strings.NewReader(body[:len(body)/2]), last: strings.NewReader(body[len(body)/2:]), resume: resume,
				stalled: func() {
					if !stalled {
						stalled = true
						settled <- struct{}{}
					}
				},
			})
			if err != nil {
				t.Error(err)
				return
			}
			responses[i] = a
			if !stalled {
				settled <- struct{}{}
			}
		})
	}
	for range uploads {
		apitest.Receive(t, settled)
	}
	refused := 0
	// The first half of an upload has a buffer of 128 KiB, so half of 4 MiB is enough for
	// 16 uploads.
	greedy.Post("/workspaces", large("more", size)).Refused(429, "body rate_limited")
	greedy.Post("/workspaces", obj{"name": "small"}).Want(201)
	other.Post("/workspaces", large("large", 60<<10)).Want(201)
	other.Post("/workspaces", obj{"name": "small too"}).Want(201)
	close(resume)
	all.Wait()
	for _, a := range responses {
		switch {
		case a == nil:
		case a.Status == http.StatusTooManyRequests:
			if refused++; a.Header.Get("Retry-After") != "1" {
				t.Errorf("no Retry-After: %v", a.Header)
			}
		case a.Status != http.StatusCreated:
			t.Errorf("%s", a)
		}
	}
	if refused < uploads-17 {
		t.Errorf("%d of %d uploads were rejected", refused, uploads)
	}
	greedy.Post("/workspaces", large("again", size)).Want(201) // the memory is free again
}

// TestBodyMemoryIsUsedUp checks that a request gets a 503 if uploads of other credentials
// use all the memory.
func TestBodyMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	h := apitest.New(t, func(o *apiserver.Options) { o.BodyMemory = 64 << 10 })
	a := h.Post("/workspaces", `{"name":"w","x":"`+strings.Repeat("x", 100<<10)+`"}`).Refused(503, "body unavailable")
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("no Retry-After: %v", a.Header)
	}
	h.Post("/workspaces", obj{"name": "w"}).Want(201)
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
	if a.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	if again := c.PostKeyed(key, "/feedback", feedback).Want(201); again.Str("id") != first.Str("id") {
		t.Errorf("a replay was rejected: %s", again)
	}
	h.Post("/feedback", feedback).Want(201) // another credential
	h.Clock.Advance(time.Minute)
	c.Post("/feedback", feedback).Want(201)
	c.Post("/feedback", feedback).Want(429)
}
