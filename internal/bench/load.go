package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// request sends one request on a connection.
type request func(c *connection) error

// comparePocketBase compares mailhostd with PocketBase under load.
func (b *bench) comparePocketBase(ctx context.Context) error {
	if err := b.buildPocketBase(ctx); err != nil {
		return err
	}
	ours, err := b.mailhostd(ctx, onSQLite, 0)
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := b.startPocketBase(ctx)
	if err != nil {
		return err
	}
	defer theirs.stop()
	if err := b.compareLoads(ctx, "durable creates, 32 connections", "PocketBase", 1.5, 32, ours, theirs, (*connection).create); err != nil {
		return err
	}
	if err := b.compareLoads(ctx, "GET of one mailbox, 16 connections", "PocketBase", 1.5, 16, ours, theirs, func(c *connection) error {
		return c.get("/" + c.s.lastID.Load().(string))
	}); err != nil {
		return err
	}
	return b.compareLoads(ctx, "list page of 100, 16 connections", "PocketBase", 1.5, 16, ours, theirs, func(c *connection) error {
		return c.get("?" + c.s.pageSize + "=100")
	})
}

// comparePostgres compares creates in one account on PostgreSQL and on SQLite.
func (b *bench) comparePostgres(ctx context.Context) error {
	ours, err := b.mailhostd(ctx, onPostgres, 0)
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := b.mailhostd(ctx, onSQLite, 0)
	if err != nil {
		return err
	}
	defer theirs.stop()
	return b.compareLoads(ctx, "PostgreSQL: durable creates, 32 connections", "SQLite", 0.33, 32, ours, theirs, (*connection).create)
}

// compareLoads puts load on two servers in turn and compares their rates.
func (b *bench) compareLoads(ctx context.Context, measure, versus string, target float64, connections int, ours, theirs *server, send request) error {
	b.progress("%s", measure)
	side := func(s *server) func() ([]float64, error) {
		return func() ([]float64, error) {
			rate, err := s.load(ctx, connections, b.load, send)
			return []float64{rate}, err
		}
	}
	for _, s := range []*server{ours, theirs} { // warms up
		if _, err := s.load(ctx, connections, b.load/4, send); err != nil {
			return err
		}
	}
	return b.compare(side(ours), side(theirs), row{measure: measure, perSecond: true, target: target, versus: versus})
}

// limit is a request to a server with a large account, and the time that it may take.
type limit struct {
	measure, query string
	most           time.Duration
}

// measureLarge measures requests to a large and to a very large account, on both engines.
func (b *bench) measureLarge(ctx context.Context) error {
	last := func(size int) string { return fmt.Sprintf("?page_size=100&page=%d", (size+99)/100) }
	large := []limit{
		{"first page of 100", "?page_size=100", 15 * time.Millisecond},
		{"last page of 100", last(b.large), 15 * time.Millisecond},
		{"filter", "?status=active&page_size=100", 200 * time.Millisecond},
		{"search", "?search=last42&page_size=100", 200 * time.Millisecond},
	}
	many := []limit{
		{"last page of 100", last(b.many), 150 * time.Millisecond},
		{"search", "?search=last42&page_size=100", 2 * time.Second},
	}
	for _, engine := range []string{onSQLite, onPostgres} {
		if err := errors.Join(b.measureAccount(ctx, engine, b.large, large), b.measureAccount(ctx, engine, b.many, many)); err != nil {
			return err
		}
	}
	return nil
}

// measureAccount measures requests to a server with an account of size mailboxes.
func (b *bench) measureAccount(ctx context.Context, engine string, size int, limits []limit) error {
	b.progress("creating an account with %d mailboxes, %s", size, engine)
	s, err := b.mailhostd(ctx, engine, size)
	if err != nil {
		return err
	}
	defer s.stop()
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, l := range limits {
		if err := c.get(l.query); err != nil { // warms up
			return err
		}
		r := row{measure: fmt.Sprintf("%s, %d mailboxes: %s", engine, size, l.measure), target: 1, versus: "the target"}
		err := b.compare(func() ([]float64, error) {
			begun := time.Now()
			err := c.get(l.query)
			return []float64{time.Since(begun).Seconds()}, err
		}, func() ([]float64, error) { return []float64{l.most.Seconds()}, nil }, r)
		if err != nil {
			return err
		}
	}
	return nil
}
