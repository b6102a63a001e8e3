package listcache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const boxes = 12

var (
	errGet  = errors.New("the GET failed")
	errList = errors.New("the list failed")
	errGone = errors.New("no such mailbox")
)

// account is an API with mailboxes in two domains. A mailbox's first name is the number
// of its version, and the history has the time of each.
type account struct {
	mu      sync.Mutex
	random  *rand.Rand
	history [boxes][]version

	changes   uint64
	inFlight  int
	unsettled bool // some change has ended with an unknown outcome
	changed   time.Time

	perPage, gets, pages int
}

// version is what a mailbox has been since a time: "" is no mailbox.
type version struct {
	since time.Time
	name  string
}

func newAccount(seed uint64) *account {
	a := &account{random: rand.New(rand.NewPCG(seed, 0)), perPage: 3}
	for i := range boxes {
		a.history[i] = []version{{time.Now(), "0"}}
	}
	return a
}

// pause waits for a random time.
func (a *account) pause(ctx context.Context, most time.Duration) error {
	a.mu.Lock()
	d := time.Duration(a.random.Int64N(int64(most)))
	a.mu.Unlock()
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *account) chance(percent int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.random.IntN(100) < percent
}

// set changes, creates or deletes a mailbox.
func (a *account) set(i int) {
	remove := a.chance(20)
	a.mu.Lock()
	defer a.mu.Unlock()
	name := strconv.Itoa(len(a.history[i]))
	if remove {
		name = ""
	}
	a.history[i] = append(a.history[i], version{time.Now(), name})
}

// change is a change of this client. An unknown outcome may take effect later.
func (a *account) change(ctx context.Context, i int, isUnknown bool) {
	a.mu.Lock()
	a.changes++
	a.inFlight++
	a.mu.Unlock()
	_ = a.pause(ctx, time.Second)
	if !isUnknown {
		a.set(i)
	}
	_ = a.pause(ctx, time.Second)
	a.mu.Lock()
	a.changes++
	a.inFlight--
	a.unsettled = a.unsettled || isUnknown
	a.changed = time.Now()
	a.mu.Unlock()
	if isUnknown {
		_ = a.pause(ctx, time.Minute)
		a.set(i)
	}
}

func (a *account) current(i int) (m api.Mailbox, exists bool) {
	h := a.history[i]
	m = box(i, h[len(h)-1].name)
	m.DomainName = domainOf(i)
	return m, m.FirstName != ""
}

func domainOf(i int) string { return []string{"a.example", "b.example"}[i%2] }

func (a *account) get(ctx context.Context, i int) (*api.Mailbox, error) {
	a.mu.Lock()
	a.gets++
	a.mu.Unlock()
	if err := a.pause(ctx, time.Second); err != nil {
		return nil, err
	}
	if a.chance(5) {
		return nil, errGet
	}
	a.mu.Lock()
	m, exists := a.current(i)
	a.mu.Unlock()
	if err := a.pause(ctx, time.Second); err != nil {
		return nil, err
	}
	if !exists {
		return nil, errGone
	}
	return &m, nil
}

// list returns mailboxes in pages, each of which is read at another time.
func (a *account) list(ctx context.Context, domain string, proceed func(int) bool) iter.Seq2[api.Mailbox, error] {
	return func(yield func(api.Mailbox, error) bool) {
		for page := 0; ; page++ {
			if err := a.pause(ctx, 2*time.Second); err != nil {
				yield(api.Mailbox{}, err)
				return
			}
			if a.chance(5) {
				yield(api.Mailbox{}, errList)
				return
			}
			var found []api.Mailbox
			a.mu.Lock()
			a.pages++
			for i := range boxes {
				if m, exists := a.current(i); exists && (domain == "" || domain == m.DomainName) {
					found = append(found, m)
				}
			}
			a.mu.Unlock()
			pages := (len(found) + a.perPage - 1) / a.perPage
			if err := a.pause(ctx, time.Second); err != nil {
				yield(api.Mailbox{}, err)
				return
			}
			for _, m := range found[min(page*a.perPage, len(found)):min((page+1)*a.perPage, len(found))] {
				if !yield(m, nil) {
					return
				}
			}
			if page+1 >= pages || !proceed(pages) {
				return
			}
		}
	}
}

func (a *account) shared() *Shared[api.Mailbox] {
	return NewShared(keys, Source[api.Mailbox]{
		List:      a.list,
		IsRefusal: func(error) bool { return false },
		Changes: func() (uint64, bool) {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.changes, a.inFlight == 0 && !a.unsettled
		},
		Now: time.Now,
	})
}

// wasCurrent reports whether a mailbox had a name, or did not exist, at some time of a
// period.
func (a *account) wasCurrent(i int, name string, from, to time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, v := range a.history[i] {
		ends := to
		if n+1 < len(a.history[i]) {
			ends = a.history[i][n+1].since
		}
		if v.name == name && !v.since.After(to) && !ends.Before(from) {
			return true
		}
	}
	return false
}

// freshness returns the earliest time from which a read that begins now may return
// something.
func (a *account) freshness() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	from := time.Now().Add(-maxShared)
	if a.changed.After(from) {
		from = a.changed
	}
	if a.inFlight > 0 || a.unsettled {
		from = time.Now()
	}
	return from
}

// TestSharedReadsAreFresh compares reads with a history, while this client and others
// change the mailboxes, requests fail and callers give up.
func TestSharedReadsAreFresh(t *testing.T) {
	var fromLists, reads int
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount(seed)
			s := a.shared()
			plan := rand.New(rand.NewPCG(seed, 1)) // used by this goroutine only
			var wg sync.WaitGroup
			for range 150 {
				i := plan.IntN(boxes)
				key, scope := fmt.Sprintf("ID-%d", i), ""
				if plan.IntN(2) == 0 {
					key = fmt.Sprintf("m%d@example.com", i)
				}
				if plan.IntN(3) > 0 {
					scope = domainOf(i)
				}
				reader := ""
				if plan.IntN(8) == 0 {
					reader = "a resource"
				}
				switch n := plan.IntN(100); {
				case n < 4:
					wg.Go(func() { a.set(i) }) // somebody else's change
				case n < 7:
					wg.Go(func() { a.change(context.Background(), i, false) })
				case n == 7 && plan.IntN(4) == 0:
					wg.Go(func() { a.change(context.Background(), i, true) })
				case n < 10:
					time.Sleep(time.Duration(plan.Int64N(int64(maxShared)))) // the window may end
				default:
					ctx, cancel := context.WithCancel(t.Context())
					if plan.IntN(10) == 0 {
						ctx, cancel = context.WithTimeout(t.Context(), time.Duration(plan.Int64N(int64(2*time.Second))))
					}
					reads++
					wg.Go(func() {
						defer cancel()
						from, begun := a.freshness(), time.Now()
						requested, failed := false, false
						m, err := s.Get(ctx, reader, key, scope, func(ctx context.Context) (*api.Mailbox, error) {
							requested = true
							m, err := a.get(ctx, i)
							failed = errors.Is(err, errGet)
							return m, err
						})
						name := ""
						switch {
						case err == nil:
							name = m.FirstName
						case errors.Is(err, errGone):
						case ctx.Err() != nil && errors.Is(err, ctx.Err()), failed && errors.Is(err, errGet):
							return
						default:
							t.Errorf("seed %d: %v is not this read's", seed, err)
							return
						}
						a.mu.Lock()
						if !requested {
							fromLists++
						}
						a.mu.Unlock()
						if !a.wasCurrent(i, name, from, time.Now()) {
							t.Errorf("seed %d: mailbox %d is %q, which is stale; the read began at %s", seed, i, name, begun)
						}
					})
				}
				if plan.IntN(3) == 0 {
					time.Sleep(time.Duration(plan.Int64N(int64(time.Second))))
				}
			}
			wg.Wait()
			time.Sleep(2 * maxShared) // until lists that nobody waits for have ended
		})
		if t.Failed() {
			return
		}
	}
	if fromLists < reads/5 {
		t.Errorf("%d of %d reads shared a list: the test does not test much", fromLists, reads)
	}
}

// TestSharedReadsOfTheNextCommand checks that a second read of a mailbox, and each that
// follows it, sees what has changed since the first one.
func TestSharedReadsOfTheNextCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(1)
		a.perPage = boxes
		s := a.shared()
		for command := range 3 {
			for i := range boxes {
				a.mu.Lock()
				a.history[i] = append(a.history[i], version{time.Now(), strconv.Itoa(command)})
				a.mu.Unlock()
			}
			var wg sync.WaitGroup
			for i := range boxes {
				wg.Go(func() {
					m, err := s.Get(t.Context(), "a resource", fmt.Sprintf("id-%d", i), "", func(ctx context.Context) (*api.Mailbox, error) {
						return a.get(ctx, i)
					})
					if want := strconv.Itoa(command); !errors.Is(err, errGet) && (err != nil || m.FirstName != want) {
						t.Errorf("%+v, %v, want %s", m, err, want)
					}
				})
			}
			wg.Wait()
		}
		if a.gets >= 3*boxes {
			t.Errorf("%d requests: nothing was shared", a.gets)
		}
	})
}

// steady is a list of n mailboxes in pages of 1,000 that never changes; requests take
// 100 ms.
func steady(n int) (s *Shared[api.Mailbox], get func(ctx context.Context, i int) error, gets, pages *int) {
	var mu sync.Mutex
	gets, pages = new(int), new(int)
	s = NewShared(keys, Source[api.Mailbox]{
		List: func(_ context.Context, _ string, proceed func(int) bool) iter.Seq2[api.Mailbox, error] {
			return func(yield func(api.Mailbox, error) bool) {
				for page := 0; page*MaxPageSize < n; page++ {
					time.Sleep(100 * time.Millisecond)
					mu.Lock()
					*pages++
					mu.Unlock()
					for i := page * MaxPageSize; i < min(n, (page+1)*MaxPageSize); i++ {
						if !yield(box(i, "x"), nil) {
							return
						}
					}
					if !proceed((n + MaxPageSize - 1) / MaxPageSize) {
						return
					}
				}
			}
		},
		IsRefusal: func(error) bool { return true },
		Changes:   func() (uint64, bool) { return 0, true },
		Now:       time.Now,
	})
	get = func(ctx context.Context, i int) error {
		_, err := s.Get(ctx, "a resource", fmt.Sprintf("id-%d", i), "example.com", func(context.Context) (*api.Mailbox, error) {
			mu.Lock()
			*gets++
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			m := box(i, "x")
			return &m, nil
		})
		return err
	}
	return s, get, gets, pages
}

// TestSharedReadsCost checks that many reads cost a list, that few cost a request each,
// and that a list is read only if it is short in comparison.
func TestSharedReadsCost(t *testing.T) {
	for _, tc := range []struct{ reads, parallel, total, gets, pages int }{
		{1, 10, 1, 1, 0},
		{4, 10, 100_000, 4, 0},
		{1_000, 10, 1_000, 4, 1},
		{2_000, 10, 2_000, 4, 2},
		{10_000, 10, 10_000, 100, 11},
		{50, 10, 100_000, 50, 1}, // the first page shows that the list is too long
		{150, 10, 20_000, 150, 1},
		{300, 10, 100, 204, 1}, // of which the list lacks 200
		{49, 1, 1_000, 49, 0},
		{1_000, 1, 1_000, 49, 1},
	} {
		t.Run(fmt.Sprintf("%d of %d, %d at once", tc.reads, tc.total, tc.parallel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, get, gets, pages := steady(tc.total)
				slots := make(chan struct{}, tc.parallel)
				var wg sync.WaitGroup
				for n := range tc.reads {
					slots <- struct{}{}
					wg.Go(func() {
						defer func() { <-slots }()
						// The newest come first, which are on the last page.
						if err := get(t.Context(), tc.total-1-n); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				time.Sleep(time.Hour)
				if *gets > tc.gets || *pages > tc.pages {
					t.Errorf("%d requests for one mailbox and %d for pages, want %d and %d", *gets, *pages, tc.gets, tc.pages)
				}
			})
		})
	}
}

// TestSharedListFails checks that reads continue with requests of their own, that a
// refused list is not requested again, and another one that fails only a few times.
func TestSharedListFails(t *testing.T) {
	// There are two lists, that of the domain and the whole one.
	for isRefusal, want := range map[bool]int{true: 2, false: 14} {
		synctest.Test(t, func(t *testing.T) {
			s, get, gets, _ := steady(1000)
			lists := 0
			s.IsRefusal = func(error) bool { return isRefusal }
			s.List = func(context.Context, string, func(int) bool) iter.Seq2[api.Mailbox, error] {
				return func(yield func(api.Mailbox, error) bool) {
					lists++
					yield(api.Mailbox{}, errList)
				}
			}
			for round := range 50 { // some of them in a window of their own, if that matters
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						if err := get(t.Context(), 10*round+i); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if isRefusal {
					time.Sleep(maxShared)
				}
			}
			if lists > want || *gets != 500 {
				t.Errorf("refused %v: %d lists, want %d, and %d requests", isRefusal, lists, want, *gets)
			}
		})
	}
}

// TestSharedListOutlivesItsCaller checks that a list serves the others if the caller
// that began it gives up, and that it is cancelled when all have.
func TestSharedListOutlivesItsCaller(t *testing.T) {
	for _, allGiveUp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, get, gets, _ := steady(1000)
			var ended error
			list := s.List
			s.List = func(ctx context.Context, domain string, proceed func(int) bool) iter.Seq2[api.Mailbox, error] {
				return func(yield func(api.Mailbox, error) bool) {
					for m, err := range list(ctx, domain, proceed) {
						if ended = ctx.Err(); ended != nil {
							yield(api.Mailbox{}, ended)
							return
						}
						if !yield(m, err) {
							return
						}
					}
				}
			}
			var wg sync.WaitGroup
			for i := range 10 {
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if i == enoughInFlight || allGiveUp && i > enoughInFlight {
					ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
				}
				wg.Go(func() {
					defer cancel()
					if err := get(ctx, i); err != ctx.Err() {
						t.Errorf("mailbox %d: %v, want %v", i, err, ctx.Err())
					}
				})
				synctest.Wait()
			}
			wg.Wait()
			synctest.Wait() // a cancelled list ends after its callers
			if *gets != enoughInFlight || (ended != nil) != allGiveUp {
				t.Errorf("all give up: %v: %d requests, and the list ended with %v", allGiveUp, *gets, ended)
			}
		})
	}
}
