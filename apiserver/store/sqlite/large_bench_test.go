package sqlite

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

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

var largest = flag.Int("largest", 100_000, "the number of mailboxes of BenchmarkLarge")

// The names of the mailboxes of BenchmarkLarge.
var (
	firstNames = strings.Fields("Ada Alan Barbara Claude Dennis Donald Edsger Frances Grace Jürgen Katherine Kurt Margaret Niklaus Ольга Radia Tim Yukihiro")
	lastNames  = strings.Fields("Allen Dijkstra Hamilton Hopper Johnson Knuth Kovalevskaya Liskov Lovelace Öztürk Perlman Ritchie Shannon Turing Wirth")
)

// BenchmarkLarge reads the first, the middle and the last page of lists of an account with many
// mailboxes.
func BenchmarkLarge(b *testing.B) {
	s := openLarge(b, *largest)
	for _, c := range []struct {
		name   string
		filter store.MailboxFilter
		limit  int
	}{
		{"page of 1", store.MailboxFilter{}, 1},
		{"page of 100", store.MailboxFilter{}, 100},
		{"of a domain", store.MailboxFilter{DomainID: "domain3"}, 100},
		{"of a workspace", store.MailboxFilter{WorkspaceID: workspaceID}, 100},
		{"within domains", store.MailboxFilter{Within: store.Within{Restricted: true, Domains: []string{"domain1", "domain2"}}}, 100},
		{"by status", store.MailboxFilter{Status: "active", Now: time.Now()}, 100},
		{"search a", store.MailboxFilter{Search: "a"}, 100},
		{"search @e", store.MailboxFilter{Search: "@e"}, 100},
		{"search all", store.MailboxFilter{Search: "exa"}, 100},
		{"search ada", store.MailboxFilter{Search: "ADA"}, 100},
		{"search qqq", store.MailboxFilter{Search: "qqq"}, 100},
		{"search Grace Hopper", store.MailboxFilter{Search: "Grace Hopper"}, 100},
		{"search m999", store.MailboxFilter{Search: "m999"}, 100},
		{"search example", store.MailboxFilter{Search: "example"}, 100},
	} {
		// read returns the shortest of a few times that a page takes, and the total. The page
		// begins after a part of the list.
		read := func(before float64, all int) (best time.Duration, total int) {
			for range 3 {
				var took time.Duration
				if err := s.View(b.Context(), func(r store.Reader) error {
					r.HideUnpaid(time.Now())
					page := store.Slice{Offset: int(before * float64(max(all-c.limit, 0))), Limit: c.limit}
					start := time.Now()
					_, n, err := r.Mailboxes(accountID, c.filter, page)
					total = n
					took = time.Since(start)
					return err
				}); err != nil {
					b.Fatal(err)
				}
				if best == 0 || took < best {
					best = took
				}
			}
			return best, total
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				first, total := read(0, 0)
				middle, _ := read(0.5, total)
				last, _ := read(1, total)
				b.ReportMetric(first.Seconds()*1e3, "first-ms")
				b.ReportMetric(middle.Seconds()*1e3, "middle-ms")
				b.ReportMetric(last.Seconds()*1e3, "last-ms")
				b.ReportMetric(float64(total), "rows")
			}
		})
	}
}

// openLarge opens a store with n mailboxes in ten domains.
func openLarge(b *testing.B, n int) *Store {
	b.Helper()
	s := openStore(b, newPath(b), Options{})
	mustPopulate(b, s)
	start := time.Now()
	if err := s.Update(b.Context(), func(tx store.Tx) error {
		for i := range 10 {
			d := store.Domain{ID: fmt.Sprint("domain", i), AccountID: accountID, WorkspaceID: workspaceID, Name: fmt.Sprintf("d%d.example", i), CreatedAt: time.Now()}
			if err := tx.CreateDomain(&d); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	const atOnce = 10_000
	for done := 0; done < n; done += atOnce {
		if err := s.Update(b.Context(), func(tx store.Tx) error {
			for i := done; i < min(done+atOnce, n); i++ {
				if err := tx.CreateMailbox(&store.Mailbox{
					ID: uuid.Must(uuid.NewV7()).String(), AccountID: accountID, DomainID: fmt.Sprint("domain", i%10), LocalPart: fmt.Sprint("m", i),
					FirstName: firstNames[i%len(firstNames)], LastName: lastNames[i/7%len(lastNames)],
					State: store.Provisioning{Status: "active"}, CreatedAt: time.Now(),
				}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d mailboxes were created in %s", n, time.Since(start))
	return s
}
