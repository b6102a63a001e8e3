package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// comparePostgres compares mailhostd on PostgreSQL and on SQLite, on this machine: durable
// creates in one account, and pages of a large one.
func (b *bench) comparePostgres(ctx context.Context) (err error) {
	cluster, err := postgrestest.New()
	if errors.Is(err, postgrestest.ErrMissing) {
		b.rows = append(b.rows, row{measure: "PostgreSQL", target: atLeast(0.5), versus: "SQLite", missing: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	b.progress("creating accounts with %d mailboxes on both engines", b.million)
	ours, err := b.onPostgres(ctx, cluster, b.million)
	if err != nil {
		return err
	}
	defer ours.stop()
	theirs, err := b.mailhostd(ctx, b.million)
	if err != nil {
		return err
	}
	defer theirs.stop()
	for _, s := range []*server{ours, theirs} {
		s.created.Store(int64(b.million)) // the next one is new
	}
	page := func(query string) func(*server) func(*connection, int) error {
		return func(s *server) func(*connection, int) error {
			return func(c *connection, _ int) error { _, err := c.timed(http.MethodGet, s.mailboxes+query, ""); return err }
		}
	}
	for _, l := range []struct {
		measure     string
		connections int
		sender      func(*server) func(*connection, int) error
	}{
		{"first page of 100, 16 connections", 16, page("?page_size=100")},
		{"last page of 100, 16 connections", 16, page(fmt.Sprintf("?page_size=100&page=%d", (b.million+99)/100))},
		{"search for three letters, 16 connections", 16, page("?search=bak&page_size=100")},
		{"durable creates, 32 connections", 32, func(*server) func(*connection, int) error {
			return func(c *connection, _ int) error { _, err := c.create(); return err }
		}},
	} {
		measure := fmt.Sprintf("PostgreSQL, %d mailboxes: %s", b.million, l.measure)
		b.progress("%s", measure)
		a, c, err := b.compareLoads(ctx, l.connections, sender{ours, l.sender(ours)}, sender{theirs, l.sender(theirs)})
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row{measure: measure, unit: perSecond, target: atLeast(0.5), ours: a, against: c, versus: "SQLite"})
	}
	return nil
}

// onPostgres starts mailhostd on a cluster with a number of mailboxes.
func (b *bench) onPostgres(ctx context.Context, cluster *postgrestest.Cluster, mailboxes int) (*server, error) {
	url := cluster.URL("postgres", "postgres")
	db, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.scratch, "mailhostd-")
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return b.serve(ctx, db, url, dir, mailboxes)
}
