package listcache

import (
	"context"
	"iter"
	"sync"
	"time"
)

// maxShared is how long a window lasts: an object is never read later than this after
// the request that returned it.
const maxShared = time.Minute

// What makes a list worth reading. A page of a list costs an API about as much as
// requestsPerPage reads of one object.
const (
	// enoughInFlight is how many reads of one object have to be in flight.
	enoughInFlight = 4
	// enoughRequested is how many have to be made, if the API responds faster than they
	// come.
	enoughRequested = 50
	requestsPerPage = 10
)

// Source is what [Shared] needs of its list.
type Source[T any] struct {
	// List iterates over the list of a scope: a domain, or everything if it is "".
	// It calls proceed before each page but the first with the number of pages, and
	// ends if the result is false.
	List func(ctx context.Context, scope string, proceed func(pages int) bool) iter.Seq2[T, error]
	// IsRefusal reports whether an error of List would come again.
	IsRefusal func(error) bool
	// Changes returns how many changes have begun and ended so far, and whether every one
	// has ended with a known outcome.
	Changes func() (version uint64, settled bool)
	Now     func() time.Time
}

// Shared lets reads of single objects share a list. The first few reads are requests of
// their own. When several are in flight at once, it reads a page of the list, and the
// rest if that costs less than the reads so far. Only what a list has comes from it: an
// object that it lacks is read by a request of its own, so that neither a page that
// shifts nor a list that hides objects makes one look deleted.
//
// # Freshness
//
// A window begins with a read while no change is in flight. It ends when a change of
// this client begins, after a minute, or when a reader reads an object again: a refresh
// reads each once, so that this one belongs to another command. A read returns only what
// was requested within the window in which it began. So it sees every change of this
// client that ended before it, and nothing older than a minute or than the client itself.
// While a change is in flight, and after one with an unknown outcome, which may still
// take effect, each read is a request of its own.
//
// # Scopes
//
// A read may have a scope, the domain of its object. If all reads have the same scope,
// its list is read instead of the whole one, otherwise if the whole one is too long.
//
// Shared keeps no errors, and it does not return those of a list: the reads continue
// with requests of their own. A list that is refused is not read again; after another
// failure, it is when the number of requests has doubled. A list has no caller's
// deadline, and is cancelled when the last of several waiting callers gives up.
// Returned values share their slices, so callers must not change them.
type Shared[T any] struct {
	Keys[T]
	Source[T]

	mu      sync.Mutex // guards all fields below, and the windows
	current *window[T]
	refused map[string]bool // lists, by scope
}

// window is a time in which this client changes nothing.
type window[T any] struct {
	version  uint64
	began    time.Time
	objects  *snapshot[T]
	lists    map[string]*sharedList // by scope
	wanted   map[string]int         // reads that did not find their object, by scope
	read     map[[2]string]bool     // by reader and key
	inFlight int                    // requests for one object
	waiting  int                    // reads that wait for a list
	arrivals map[string]chan struct{}
}

// sharedList is a list in a window.
type sharedList struct {
	cancel    context.CancelFunc // not nil while it is read
	pages     int                // 0: not known
	isRead    bool               // to its end
	notBefore int                // reads that have to come before it is tried again
}

// NewShared returns a Shared of a list.
func NewShared[T any](k Keys[T], s Source[T]) *Shared[T] {
	return &Shared[T]{Keys: k, Source: s, refused: map[string]bool{}}
}

// Get returns the object with an id or natural key in a scope ("" if that is not known),
// from a list or from get. A reader reads each object once in a command; "" is one that
// may read some of them several times.
func (s *Shared[T]) Get(ctx context.Context, reader, key, scope string, get func(context.Context) (*T, error)) (*T, error) {
	w, v, err := s.await(ctx, reader, s.Normalize(key), scope)
	if v != nil || err != nil {
		return v, err
	}
	if w != nil {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			w.inFlight--
		}()
	}
	return get(ctx)
}

// await returns the object from the current window, if a list has it that was read or is
// worth reading. Otherwise it has counted a request, unless there is no window.
func (s *Shared[T]) await(ctx context.Context, reader, key, scope string) (*window[T], *T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.window(reader, key)
	if w == nil {
		return nil, nil, nil
	}
	if v := w.objects.get(key); v != nil {
		return w, v, nil
	}
	w.wanted[""]++
	if scope != "" {
		w.wanted[scope]++
	}
	for s.beginList(ctx, w, scope) {
		arrival := w.arrival(key)
		w.waiting++
		s.mu.Unlock()
		select {
		case <-arrival:
		case <-ctx.Done():
		}
		s.mu.Lock()
		w.waiting--
		if v := w.objects.get(key); v != nil {
			return w, v, nil
		}
		if err := ctx.Err(); err != nil {
			w.cancelUnless(w.waiting > 0)
			return w, nil, err
		}
	}
	w.inFlight++
	return w, nil, nil
}

// window returns the window for a read that begins now, or nil if there is none.
func (s *Shared[T]) window(reader, key string) *window[T] {
	version, settled := s.Changes()
	if !settled {
		return nil
	}
	now, w, by := s.Now(), s.current, [2]string{reader, key}
	if w == nil || w.version != version || now.Sub(w.began) >= maxShared || w.read[by] {
		w = &window[T]{
			version: version, began: now, objects: newSnapshot[T](), read: map[[2]string]bool{},
			lists: map[string]*sharedList{}, wanted: map[string]int{}, arrivals: map[string]chan struct{}{},
		}
		s.current = w
	}
	if reader != "" {
		w.read[by] = true
	}
	return w
}

// beginList reports whether a list is being read that may have an object of the scope. It
// begins with one if that is worth it.
func (s *Shared[T]) beginList(ctx context.Context, w *window[T], scope string) bool {
	switch whole, own := w.list(""), w.list(scope); {
	case whole.cancel != nil || own.cancel != nil:
		return true
	case whole.isRead || own.isRead:
		return false
	}
	order := [2]string{"", scope}
	if w.wanted[scope] == w.wanted[""] {
		order = [2]string{scope, ""}
	}
	for _, candidate := range order {
		if !s.refused[candidate] && w.isWorthIt(candidate) {
			s.begin(ctx, w, candidate)
			return true
		}
	}
	return false
}

func (s *Shared[T]) begin(ctx context.Context, w *window[T], scope string) {
	l := w.list(scope)
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		err := s.read(ctx, w, scope, l)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			l.notBefore = 2 * w.wanted[scope]
			s.refused[scope] = ctx.Err() == nil && s.IsRefusal(err)
		}
		l.cancel()
		l.cancel = nil
		for key, arrival := range w.arrivals { // those that the list does not have
			close(arrival)
			delete(w.arrivals, key)
		}
	}()
}

func (s *Shared[T]) read(ctx context.Context, w *window[T], scope string, l *sharedList) error {
	isWhole := true
	proceed := func(pages int) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.pages = pages
		isWhole = w.isWorthIt(scope)
		return isWhole
	}
	for v, err := range s.List(ctx, scope, proceed) {
		if err != nil {
			return err
		}
		s.mu.Lock()
		w.put(&s.Keys, v)
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.isRead = isWhole
	return nil
}

// isWorthIt reports whether a list costs less than the reads so far, as far as is known.
func (w *window[T]) isWorthIt(scope string) bool {
	l := w.list(scope)
	switch {
	case l.isRead || w.wanted[scope] < l.notBefore:
		return false
	case l.pages == 0 && w.inFlight < enoughInFlight && w.wanted[""] < enoughRequested:
		return false
	}
	return (w.pages(scope)-1)*requestsPerPage <= w.wanted[scope]
}

// pages returns the number of pages of a list, or the least that it can be.
func (w *window[T]) pages(scope string) int {
	if l := w.list(scope); l.pages > 0 || scope != "" {
		return max(l.pages, 1)
	}
	n := 1
	for _, l := range w.lists {
		n = max(n, l.pages)
	}
	return n
}

func (w *window[T]) list(scope string) *sharedList {
	if w.lists[scope] == nil {
		w.lists[scope] = &sharedList{}
	}
	return w.lists[scope]
}

// cancelUnless cancels all lists that are being read, unless they are needed.
func (w *window[T]) cancelUnless(isNeeded bool) {
	for _, l := range w.lists {
		if l.cancel != nil && !isNeeded {
			l.cancel()
		}
	}
}

// put stores an object, for the reads that wait for it too.
func (w *window[T]) put(k *Keys[T], v T) {
	w.objects.put(k, v)
	w.arrived(k.Normalize(k.ID(&v)))
	if k.Name != nil {
		w.arrived(k.Normalize(k.Name(&v)))
	}
}

// arrival returns a channel that is closed when the object with a key is stored, or a
// list ends.
func (w *window[T]) arrival(key string) <-chan struct{} {
	if w.arrivals[key] == nil {
		w.arrivals[key] = make(chan struct{})
	}
	return w.arrivals[key]
}

func (w *window[T]) arrived(key string) {
	if arrival := w.arrivals[key]; arrival != nil {
		close(arrival)
		delete(w.arrivals, key)
	}
}
