package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// compareServer compares mailhostd with PocketBase under load.
func (b *bench) compareServer(ctx context.Context) error {
	if err := b.buildPocketBase(ctx); err != nil {
		return err
	}
	ours, err := b.mailhostd(ctx, 0)
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := b.pocketBase(ctx)
	if err != nil {
		return err
	}
	defer theirs.stop()
	const seeded = 1000
	for _, l := range []struct {
		measure     string
		connections int
		target      target
		// sender returns the function that sends a request to a server.
		sender func(*server) (func(c *connection, n int) error, error)
	}{
		{"durable creates, 32 connections", 32, atLeast(2), func(*server) (func(*connection, int) error, error) {
			return func(c *connection, _ int) error { _, err := c.create(); return err }, nil
		}},
		{"GET of one mailbox, 16 connections", 16, atLeast(1.5), func(s *server) (func(*connection, int) error, error) {
			ids, err := seed(ctx, s, seeded)
			return func(c *connection, n int) error {
				_, err := c.timed(http.MethodGet, s.mailboxes+"/"+ids[n%len(ids)], "")
				return err
			}, err
		}},
		{"list page of 100, 16 connections", 16, atLeast(1.5), func(s *server) (func(*connection, int) error, error) {
			query := "?page_size=100"
			if s == theirs {
				query = "?perPage=100"
			}
			return func(c *connection, _ int) error {
				_, err := c.timed(http.MethodGet, s.mailboxes+query, "")
				return err
			}, nil
		}},
	} {
		b.progress("%s", l.measure)
		var sides [2]sender
		for i, s := range []*server{ours, theirs} {
			send, err := l.sender(s)
			if err != nil {
				return err
			}
			sides[i] = sender{s, send}
		}
		a, c, err := b.compareLoads(ctx, l.connections, sides[0], sides[1])
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{measure: l.measure, unit: perSecond, target: l.target, ours: a, against: c, versus: "PocketBase"})
	}
	return nil
}

// sender sends requests to a server.
type sender struct {
	to   *server
	send func(c *connection, n int) error
}

// compareLoads puts load on two servers in turn, and returns their rates per second.
func (b *bench) compareLoads(ctx context.Context, connections int, ours, theirs sender) (a, c []float64, err error) {
	var sides [2]func() ([]float64, error)
	for i, s := range []sender{ours, theirs} {
		if _, err := load(ctx, s.to, connections, b.load/4, s.send); err != nil { // warms up
			return nil, nil, err
		}
		sides[i] = func() ([]float64, error) {
			rate, err := load(ctx, s.to, connections, b.load, s.send)
			return []float64{rate}, err
		}
	}
	rates, against, err := alternate(b.rounds, sides[0], sides[1])
	if err != nil {
		return nil, nil, err
	}
	return rates[0], against[0], nil
}

// seed creates mailboxes and returns their ids.
func seed(ctx context.Context, s *server, n int) (ids []string, err error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for range n {
		id, err := c.create()
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// compareMillion measures requests to a server with a large account.
func (b *bench) compareMillion(ctx context.Context) error {
	const fewMailboxes = 1000
	b.progress("creating an account with %d mailboxes", b.million)
	large, err := b.mailhostd(ctx, b.million)
	if err != nil {
		return err
	}
	defer large.stop()
	small, err := b.mailhostd(ctx, fewMailboxes)
	if err != nil {
		return err
	}
	defer small.stop()
	many, err := large.connect(ctx)
	if err != nil {
		return err
	}
	defer many.Close()
	few, err := small.connect(ctx)
	if err != nil {
		return err
	}
	defer few.Close()

	const repeats = 15
	get := func(c *connection, query string) func() ([]float64, error) {
		return func() ([]float64, error) {
			took, err := c.timed(http.MethodGet, c.s.mailboxes+query, "")
			return []float64{took}, err
		}
	}
	name := fmt.Sprintf("%d mailboxes: ", b.million)
	last := fmt.Sprintf("?page_size=100&page=%d", (b.million+99)/100)
	for _, m := range []struct {
		measure, versus string
		target          target
		ours, against   func() ([]float64, error)
	}{
		{"last page of 100", "first page", atMost(1.5), get(many, last), get(many, "?page_size=100")},
		{"page of 1", fmt.Sprintf("%d mailboxes", fewMailboxes), atMost(2), get(many, "?page_size=1"), get(few, "?page_size=1")},
		{"search for three letters", "the target", atMost(1), get(many, "?search=bak"), constant(20 * time.Millisecond)},
	} {
		b.progress("%s%s", name, m.measure)
		if _, err := m.ours(); err != nil {
			return err
		}
		a, c, err := alternate(repeats, m.ours, m.against)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{measure: name + m.measure, unit: seconds, target: m.target, ours: a[0], against: c[0], versus: m.versus})
	}
	return b.largeMemory(ctx, name, large)
}

// constant returns a side that is a target.
func constant(d time.Duration) func() ([]float64, error) {
	return func() ([]float64, error) { return []float64{d.Seconds()}, nil }
}

// largeMemory exports all mailboxes on one connection and lists them on others, and measures
// the server's peak memory.
func (b *bench) largeMemory(ctx context.Context, name string, s *server) error {
	const connections, pageSize = 16, 1000
	b.progress("%slisted and exported on %d connections", name, connections)
	pages := (b.million + pageSize - 1) / pageSize
	if _, err := load(ctx, s, connections, b.load, func(c *connection, n int) (err error) {
		if n == 1 {
			_, err = c.timed(http.MethodPost, s.mailboxes+"/export", "{}")
		} else {
			_, err = c.timed(http.MethodGet, fmt.Sprintf("%s?page_size=%d&page=%d", s.mailboxes, pageSize, 1+n%pages), "")
		}
		return err
	}); err != nil {
		return err
	}
	r := row{measure: name + "memory, listed and exported", unit: mebibytes, target: atMost(1), ours: []float64{peakMiB(s.pid)}, against: []float64{128}, versus: "the target"}
	if r.ours[0] == 0 {
		r.missing = "the peak memory is read from /proc, which this system does not have"
	}
	b.rows = append(b.rows, r)
	return nil
}
