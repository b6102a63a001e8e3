package apiserver_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

// engines are the databases that benchmarks compare. Each commit waits for the disk.
var engines = []struct {
	name string
	open func(b *testing.B) (store.Store, error)
}{
	{"SQLite", openSQLite},
	{"PostgreSQL", func(b *testing.B) (store.Store, error) {
		cluster, err := postgrestest.New()
		if errors.Is(err, postgrestest.ErrMissing) {
			b.Skip(err)
		}
		if err != nil {
			return nil, err
		}
		b.Cleanup(func() { _ = cluster.Close() })
		return postgres.Open(b.Context(), cluster.URL("postgres", "postgres"), postgres.Options{})
	}},
}

func openSQLite(b *testing.B) (store.Store, error) {
	return sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "mailhost.db"), sqlite.Options{})
}

// newBenchmark returns a service on a database with the domain example.com, and a function
// that sends a POST in process. The function fails the benchmark unless the request
// succeeds.
func newBenchmark(b *testing.B, open func(*testing.B) (store.Store, error)) (svc *apiserver.Service, post func(path, body string)) {
	b.Helper()
	db, err := open(b)
	if err != nil {
		b.Fatal(err)
	}
	svc, err = apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = svc.Close() })
	if _, err := svc.EnsureAccount(b.Context(), accountID); err != nil {
		b.Fatal(err)
	}
	client := svc.OwnerClient(accountID)
	post = func(path, body string) {
		resp, err := client.Post("http://mailhost.test/v1/public/accounts/"+accountID+path, "application/json", strings.NewReader(body))
		if err != nil {
			b.Error(err)
			return
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode > http.StatusCreated {
			b.Errorf("%s: %d, %v", path, resp.StatusCode, err)
		}
	}
	post("/domains/purchase", `{"domains":["example.com"],"workspace_id":"`+api.DefaultWorkspaceID(accountID)+`","contact_info":{"address_1":"1 Way",
		"city":"X","country":"DE","email":"a@example.com","first_name":"A","last_name":"B","organization":"O","phone":"+4930123456","state":"S","zip":"1"}}`)
	return svc, post
}

// BenchmarkCreateMailbox creates one mailbox with each request, durably.
func BenchmarkCreateMailbox(b *testing.B) {
	for _, engine := range engines {
		for _, clients := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/clients=%d", engine.name, clients), func(b *testing.B) {
				_, post := newBenchmark(b, engine.open)
				b.ResetTimer()
				var next atomic.Int64
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							post("/mailboxes", fmt.Sprintf(`{"domain":"example.com","local_part":"m%d","first_name":"A","last_name":"B"}`, n))
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
			})
		}
	}
}

// BenchmarkRead sends requests with a service account's token: one mailbox, and a page of
// a hundred.
func BenchmarkRead(b *testing.B) {
	svc, post := newBenchmark(b, openSQLite)
	items := make([]string, 200)
	for i := range items {
		items[i] = fmt.Sprintf(`{"local_part":"m%d","first_name":"A","last_name":"B"}`, i)
	}
	post("/mailboxes/bulk", `{"domain":"example.com","items":[`+strings.Join(items, ",")+`]}`)
	token, err := svc.IssueOwnerToken(b.Context(), accountID, "benchmark")
	if err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{"mailbox": "/m7@example.com", "page": "?page_size=100"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/v1/public/accounts/"+accountID+"/mailboxes"+path, nil)
			r.Header.Set("Authorization", "Bearer "+token)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				if svc.Handler().ServeHTTP(w, r.Clone(b.Context())); w.Code != 200 {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}

// BenchmarkCreateMailboxes creates the maximum number of mailboxes with each request.
func BenchmarkCreateMailboxes(b *testing.B) {
	for _, engine := range engines {
		b.Run(engine.name, func(b *testing.B) {
			_, post := newBenchmark(b, engine.open)
			n := 0
			for b.Loop() {
				items := make([]string, api.MaxBulkItems)
				for i := range items {
					n++
					items[i] = fmt.Sprintf(`{"local_part":"m%d","first_name":"A","last_name":"B"}`, n)
				}
				post("/mailboxes/bulk", `{"domain":"example.com","items":[`+strings.Join(items, ",")+`]}`)
			}
			b.ReportMetric(float64(b.N*api.MaxBulkItems)/b.Elapsed().Seconds(), "mailboxes/s")
		})
	}
}
