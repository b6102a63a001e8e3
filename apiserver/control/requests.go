package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// The default timeout of GET /faults/{id}?held, and the maximum of every timeout.
const (
	defaultWait = 10 * time.Second
	maxWait     = time.Minute
)

func (h server) listFaults(*http.Request) (any, error) {
	return map[string]any{"items": h.Faults.Rules()}, nil
}

func (h server) addFault(r *http.Request) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, invalid(err)
	}
	rule, err := fault.ParseRule(body)
	if err != nil {
		return nil, invalid(err)
	}
	id, err := h.Faults.Add(rule)
	if err != nil {
		return nil, err
	}
	return created{fault.State{ID: id, Rule: rule}, "faults/" + id}, nil // relative to this control plane
}

func (h server) showFault(r *http.Request) (any, error) {
	held := 0
	timeout, err := durationOf(r.URL.Query(), "timeout", defaultWait)
	if err != nil {
		return nil, err
	}
	if s := r.URL.Query().Get("held"); s != "" {
		if held, err = strconv.Atoi(s); err != nil || held < 0 {
			return nil, invalid(errors.New("held: must be a whole number"))
		}
	}
	var state fault.State
	holds := h.poll(r, timeout, func() bool {
		state, err = h.Faults.Rule(r.PathValue("id"))
		return err != nil || state.Held >= held
	})
	if !holds {
		return nil, &httpError{http.StatusConflict, fmt.Errorf("the fault %s holds %d requests after %s, want %d", state.ID, state.Held, timeout, held)}
	}
	return state, err
}

func (h server) removeFault(r *http.Request) (any, error) {
	return nil, h.Faults.Remove(r.PathValue("id"))
}

func (h server) releaseFault(r *http.Request) (any, error) {
	released, err := h.Faults.Release(r.PathValue("id"))
	return map[string]int{"released": released}, err
}

func (h server) showJournal(r *http.Request) (any, error) {
	q := r.URL.Query()
	filter := journal.Filter{
		Operation: q.Get("operation"), Method: q.Get("method"), AccountID: q.Get("account"), Path: q.Get("path"), Body: q.Get("body"),
		Fault: q.Get("fault"), Credential: q.Get("credential"),
	}
	if isIt := func(s api.Spec) bool { return s.ID == filter.Operation }; filter.Operation != "" && !slices.ContainsFunc(api.Specs(), isIt) {
		return nil, invalid(fmt.Errorf("operation: unknown id %q; use an operationId of the OpenAPI document", filter.Operation))
	}
	if known := []string{"", journal.None, journal.ServiceAccount, journal.AccessToken, journal.Owner}; !slices.Contains(known, filter.Credential) {
		return nil, invalid(fmt.Errorf("credential: must be one of %s", strings.Join(known[1:], ", ")))
	}
	var err error
	if s := q.Get("status"); s != "" {
		if filter.Status, err = strconv.Atoi(s); err != nil || filter.Status < 100 || filter.Status > 599 {
			return nil, invalid(errors.New("status: must be a status code; use fault for requests that got none"))
		}
	}
	if s := q.Get("since"); s != "" {
		if filter.Since, err = strconv.ParseInt(s, 10, 64); err != nil {
			return nil, invalid(errors.New("since: must be the seq of an entry"))
		}
	}
	last, dropped := h.Journal.Last() // read before the entries, so that ?since=last_seq misses none
	entries, err := await(h, r, func() []journal.Entry { return h.Journal.Entries(filter) })
	return map[string]any{"items": entries, "last_seq": last, "dropped": dropped}, err
}

// pollInterval is the time between two checks of an awaited condition.
const pollInterval = 10 * time.Millisecond

// poll waits until done returns true. It returns false after the timeout, if the client disconnects
// or if the service drains.
func (h server) poll(r *http.Request, timeout time.Duration, done func() bool) bool {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	for !done() {
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return false
		case <-h.service.Draining():
			return false
		}
	}
	return true
}

// await returns a list's items as soon as their number equals the request's parameter count, by
// default at least one. It waits as long as the parameter wait allows. Any other number of items is
// an error, so that a test can't overlook it.
func await[T any](h server, r *http.Request, list func() []T) ([]T, error) {
	q := r.URL.Query()
	wait, err := durationOf(q, "wait", 0)
	if err != nil {
		return nil, err
	}
	if q.Get("count") == "" && q.Get("wait") == "" {
		return list(), nil
	}
	want, err := strconv.Atoi(cmp.Or(q.Get("count"), "1"))
	if err != nil || want < 0 {
		return nil, invalid(errors.New("count: must be a whole number"))
	}
	var items []T
	h.poll(r, wait, func() bool {
		items = list()
		return len(items) >= want
	})
	if len(items) < want || q.Get("count") != "" && len(items) > want {
		return nil, &httpError{http.StatusConflict, fmt.Errorf("%d match, want %d", len(items), want)}
	}
	return items, nil
}

// durationOf returns a parameter that limits the wait of a request.
func durationOf(q url.Values, name string, byDefault time.Duration) (time.Duration, error) {
	if q.Get(name) == "" {
		return byDefault, nil
	}
	d, err := time.ParseDuration(q.Get(name))
	if err != nil || d < 0 || d > maxWait {
		return 0, invalid(fmt.Errorf("%s: must be a duration of up to %s, such as 10s", name, maxWait))
	}
	return d, nil
}

func (h server) listSnapshots(*http.Request) (any, error) {
	items := []map[string]any{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.snapshots)) {
		items = append(items, map[string]any{"name": name, "saved_at": h.snapshots[name].savedAt})
	}
	return map[string]any{"items": items}, nil
}

func (h server) saveSnapshot(r *http.Request) (any, error) {
	restore, err := h.service.Snapshot(r.Context())
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.snapshots == nil {
		h.snapshots = map[string]snapshot{}
	}
	h.snapshots[r.PathValue("name")] = snapshot{restore, time.Duration(h.Clock.offset.Load()), h.Clock.Now().UTC()}
	return nil, nil
}

// loadSnapshot restores a snapshot of saveSnapshot. Faults, journal and requests in flight are
// treated as in Reset.
func (h server) loadSnapshot(r *http.Request) (any, error) {
	h.mu.Lock()
	saved, ok := h.snapshots[r.PathValue("name")]
	h.mu.Unlock()
	if !ok {
		return nil, &httpError{http.StatusNotFound, errors.New("there is no snapshot of that name")}
	}
	return nil, h.restore(r.Context(), saved.offset, saved.restore)
}
