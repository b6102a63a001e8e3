package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// BenchmarkCreate creates one mailbox per update, with synced commits.
func BenchmarkCreate(b *testing.B) {
	for _, mode := range []struct {
		name     string
		maxGroup int
	}{{"grouped", 0}, {"ungrouped", 1}} {
		for _, clients := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("%s/clients=%d", mode.name, clients), func(b *testing.B) {
				s := openStore(b, newPath(b), Options{maxGroup: mode.maxGroup})
				mustPopulate(b, s)
				b.ResetTimer()
				var next atomic.Int64
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							if _, err := create(b.Context(), s, fmt.Sprint("m", n)); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
			})
		}
	}
}

// BenchmarkBulk creates 1000 mailboxes in one update.
func BenchmarkBulk(b *testing.B) {
	const size = 1000
	s := openStore(b, newPath(b), Options{})
	mustPopulate(b, s)
	n := 0
	for b.Loop() {
		boxes := make([]store.Mailbox, size)
		for i := range boxes {
			n++
			boxes[i] = newMailbox(fmt.Sprint("m", n))
		}
		if err := s.Update(b.Context(), func(tx store.Tx) error {
			for i := range boxes {
				if err := tx.CreateMailbox(&boxes[i]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRead reads from an account with 100,000 mailboxes.
func BenchmarkRead(b *testing.B) {
	const size = 100_000
	s := openStore(b, newPath(b), Options{})
	mustPopulate(b, s)
	fill(b, s, size)
	filter := store.MailboxFilter{}
	page := func(f store.MailboxFilter, offset, limit int) func(store.Reader) error {
		return func(r store.Reader) error {
			_, _, err := r.Mailboxes(accountID, f, store.Slice{Offset: offset, Limit: limit})
			return err
		}
	}
	for _, c := range []struct {
		name string
		fn   func(store.Reader) error
	}{
		{"nothing", func(store.Reader) error { return nil }},
		{"by address", func(r store.Reader) error {
			_, err := r.MailboxByAddress(accountID, "m77777", "a.example")
			return err
		}},
		{"first 25", page(filter, 0, 25)},
		{"first 1000", page(filter, 0, 1000)},
		{"middle 1000", page(filter, size/2, 1000)},
		{"last 1000", page(filter, size-1000, 1000)},
		{"last 1000 of domain", page(store.MailboxFilter{DomainID: domainID}, size-1000, 1000)},
		{"search", page(store.MailboxFilter{Search: "m7777"}, 0, 1000)},
		{"each", func(r store.Reader) error {
			return r.EachMailbox(accountID, filter, func(store.Mailbox) error { return nil })
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.View(context.Background(), c.fn); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fill(b testing.TB, s *Store, n int) {
	b.Helper()
	if err := s.Update(b.Context(), func(tx store.Tx) error {
		for _, localPart := range localParts(n) {
			m := newMailbox(localPart)
			if err := tx.CreateMailbox(&m); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOpen opens and closes a store and reads once in between.
func BenchmarkOpen(b *testing.B) {
	open := func(b *testing.B, path string) {
		s, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Ping(b.Context()); err != nil {
			b.Error(err)
		}
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}
	b.Run("existing", func(b *testing.B) {
		path := newPath(b)
		open(b, path)
		for b.Loop() {
			open(b, path)
		}
	})
	b.Run("new", func(b *testing.B) {
		dir := b.TempDir()
		for n := 0; b.Loop(); n++ {
			open(b, fmt.Sprintf("%s/%d.db", dir, n))
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			open(b, Memory)
		}
	})
}
