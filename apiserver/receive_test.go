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

// Unfinished uploads of one credential hold its share of the memory and no more:
// small requests go on, and so do large ones of other credentials.
func TestUnfinishedUploads(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *apiserver.Options) { o.BodyMemory = 4 << 20 })
	greedy := h.as(h.post("/auth/service-accounts", obj{"name": "greedy"}).want(201).str("token"))
	other := h.as(h.post("/auth/service-accounts", obj{"name": "other"}).want(201).str("token"))
	large := func(name string, size int) string {
		return `{"name":"` + name + `","unknown":"` + strings.Repeat("x", size) + `"}`
	}
	const uploads, size = 40, 200 << 10
	resume, settled := make(chan struct{}), make(chan struct{}, 2*uploads)
	answers := make([]*answer, uploads)
	var all sync.WaitGroup
	for i := range uploads {
		body := large("w"+itoa(i), size)
		all.Go(func() {
			stalled := false
			a, err := greedy.try(context.WithoutCancel(t.Context()), "POST", "/workspaces", &stalledBody{
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
			answers[i] = a
			if !stalled {
				settled <- struct{}{}
			}
		})
	}
	for range uploads {
		<-settled
	}
	refused := 0
	// The first half of an upload has a buffer of 128 KiB, and half of 4 MiB holds 16.
	greedy.post("/workspaces", large("more", size)).refused(429, "body rate_limited")
	greedy.post("/workspaces", obj{"name": "small"}).want(201)
	other.post("/workspaces", large("large", 60<<10)).want(201)
	other.post("/workspaces", obj{"name": "small too"}).want(201)
	close(resume)
	all.Wait()
	for _, a := range answers {
		switch {
		case a == nil:
		case a.status == http.StatusTooManyRequests:
			if refused++; a.header.Get("Retry-After") != "1" {
				t.Errorf("no Retry-After: %v", a.header)
			}
		case a.status != http.StatusCreated:
			t.Errorf("%s", a)
		}
	}
	if refused < uploads-17 {
		t.Errorf("%d of %d uploads were refused", refused, uploads)
	}
	greedy.post("/workspaces", large("again", size)).want(201) // nothing stays taken
}

// Other credentials' uploads are a 503.
func TestBodyMemoryIsUsedUp(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *apiserver.Options) { o.BodyMemory = 64 << 10 })
	a := h.post("/workspaces", `{"name":"w","x":"`+strings.Repeat("x", 100<<10)+`"}`).refused(503, "body unavailable")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("no Retry-After: %v", a.header)
	}
	h.post("/workspaces", obj{"name": "w"}).want(201)
}

func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	body := func(attributes string) string {
		return `{"title":"t","description":"d","attributes":{"a": "` + attributes + `"}}`
	}
	const most = 16384 - len(`{"a":""}`)
	h.post("/feedback", body(strings.Repeat("x", most))).want(201)
	h.post("/feedback", body(strings.Repeat("x", most+1))).refused(422, "body.attributes value_error").says("16384")
	c := h.as(h.post("/auth/service-accounts", obj{"name": "x"}).want(201).str("token"))
	feedback := obj{"title": "t", "description": "d"}
	first := c.keyed(key, "/feedback", feedback).want(201)
	for range 19 {
		c.post("/feedback", feedback).want(201)
	}
	a := c.post("/feedback", feedback).refused(429, "header.Authorization rate_limited")
	if a.header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	if again := c.keyed(key, "/feedback", feedback).want(201); again.str("id") != first.str("id") {
		t.Errorf("a replay is limited: %s", again)
	}
	h.post("/feedback", feedback).want(201) // another credential
	h.clock.Advance(time.Minute)
	c.post("/feedback", feedback).want(201)
	c.post("/feedback", feedback).want(429)
}
