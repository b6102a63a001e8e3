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
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/spelling"
)

// The default timeout of GET /faults/{id}?held, and the maximum of every timeout.
const (
	defaultWait = 10 * time.Second
	maxWait     = time.Minute
)

func (h server) listFaults(*http.Request) (any, error) {
	return listOf[fault.State]{h.Faults.Rules()}, nil
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
	if rule.Operation != fault.Any {
		if err := h.checkOffered(rule.Operation); err != nil {
			return nil, err
		}
	}
	for _, account := range []string{rule.Account, rule.Path["account_id"]} {
		if err := h.checkReachable(account); account != "" && err != nil {
			return nil, err
		}
	}
	id, err := h.Faults.Add(rule)
	if err != nil {
		return nil, err
	}
	return created{fault.State{ID: id, Rule: rule}, "faults/" + id}, nil // relative to this control plane
}

// checkOffered returns an error for an operation that the service leaves out.
func (h server) checkOffered(operation string) error {
	if h.service.Offers(operation) {
		return nil
	}
	return invalid(fmt.Errorf("operation: this server offers the published operations only, without %s", operation))
}

func (h server) showFault(r *http.Request) (any, error) {
	q := r.URL.Query()
	timeout, err := durationOf(q, "timeout", defaultWait)
	if err != nil {
		return nil, err
	}
	held, waits, err := numberOf(q, "held")
	if err != nil {
		return nil, err
	}
	state, err := h.Faults.Rule(r.PathValue("id"))
	switch {
	case err != nil:
		return nil, err
	case !waits && q.Has("timeout"):
		return nil, invalid(errors.New("timeout: requires held"))
	case held > 0 && state.Hold == "":
		return nil, invalid(fmt.Errorf("held: the fault %s holds no requests, because it lacks a hold", state.ID))
	}
	holds := h.poll(r, timeout, func() bool {
		state, err = h.Faults.Rule(r.PathValue("id"))
		return err != nil || state.Held >= held
	})
	if !holds {
		return nil, &httpError{http.StatusConflict, fmt.Errorf("the fault %s holds %d requests after %s, want %d; it matched %d; %s", state.ID, state.Held, timeout, held, state.Matched, h.nearestTo(state.Rule))}
	}
	return state, err
}

// nearestTo describes the newest request for a rule's operation, or else the nearest request.
func (h server) nearestTo(r fault.Rule) string {
	filter := journal.Filter{AccountID: r.Account}
	if r.Operation != fault.Any {
		filter.Operation = r.Operation
	}
	entries := h.Journal.Entries(filter)
	if len(entries) == 0 {
		return h.Journal.Nearest(filter)
	}
	newest := entries[len(entries)-1]
	return fmt.Sprintf("the newest request for the operation was seq %d, %s %s", newest.Seq, newest.Method, newest.Path)
}

func (h server) removeFault(r *http.Request) (any, error) {
	return nil, h.Faults.Remove(r.PathValue("id"))
}

func (h server) releaseFault(r *http.Request) (any, error) {
	if state, err := h.Faults.Rule(r.PathValue("id")); err == nil && state.Hold == "" {
		return nil, invalid(fmt.Errorf("the fault %s holds no requests, because it lacks a hold", state.ID))
	}
	released, err := h.Faults.Release(r.PathValue("id"))
	return map[string]int{"released": released}, err
}

func (h server) showJournal(r *http.Request) (any, error) {
	filter, err := h.journalFilter(r)
	if err != nil {
		return nil, err
	}
	last, dropped := h.Journal.Last() // read before the entries, so that ?since=last_seq misses none
	entries, err := await(h, r, func() []journal.Entry { return h.Journal.Entries(filter) }, func() string { return h.Journal.Nearest(filter) })
	return journalList{entries, last, dropped}, err
}

// journalFilter returns the filter of a request. It is an error if the filter can't match, because a
// test could pass for the wrong reason.
func (h server) journalFilter(r *http.Request) (journal.Filter, error) {
	q := r.URL.Query()
	status, withStatus, err := numberOf(q, "status")
	since, _, errSince := numberOf(q, "since")
	filter := journal.Filter{
		Operation: q.Get("operation"), Method: q.Get("method"), AccountID: q.Get("account"), Path: q.Get("path"), Body: q.Get("body"),
		Fault: q.Get("fault"), Credential: q.Get("credential"), Status: status, Since: int64(since),
	}
	if withStatus && status == 0 {
		filter.Status = -1 // not every status
	}
	if err = cmp.Or(err, errSince, h.Journal.Check(filter)); err != nil {
		return filter, invalid(err)
	}
	if last, _ := h.Journal.Last(); filter.Since > last {
		return filter, invalid(fmt.Errorf("since: the seq of the newest request is %d", last))
	}
	if filter.Operation != "" {
		if err := h.checkOffered(filter.Operation); err != nil {
			return filter, err
		}
	}
	return filter, h.checkJournaled(r.Context(), filter.AccountID)
}

// checkJournaled returns an error for the id of an account without requests that the service does not
// contain.
func (h server) checkJournaled(ctx context.Context, id string) error {
	if id == "" || h.Replay != nil || len(h.Journal.Entries(journal.Filter{AccountID: id})) > 0 {
		return nil
	}
	if err := h.checkReachable(id); err != nil {
		return err
	}
	ids, err := h.service.Accounts(ctx)
	if err == nil && !slices.Contains(ids, api.CanonicalID(id)) {
		err = invalid(fmt.Errorf("account: there is no account %s; GET /accounts lists them%s", id, spelling.Suggestion(id, ids)))
	}
	return err
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

// await returns a list's items as soon as the request's parameters count, or min_count and max_count,
// permit their number; by default at least one is needed. It waits as long as the parameter wait
// allows, and with an upper limit alone watches that long. Any other number of items is an error, so
// that a test can't overlook it. nearest describes an item that almost matches.
func await[T any](h server, r *http.Request, list func() []T, nearest func() string) ([]T, error) {
	q := r.URL.Query()
	wait, err := durationOf(q, "wait", 0)
	count, exact, errCount := numberOf(q, "count")
	least, hasLeast, errLeast := numberOf(q, "min_count")
	most, hasMost, errMost := numberOf(q, "max_count")
	if errCount != nil {
		return nil, invalid(fmt.Errorf("%w; min_count and max_count are limits", errCount))
	}
	if err = cmp.Or(err, errLeast, errMost); err != nil {
		return nil, err
	}
	want := fmt.Sprintf("at least %d", least)
	switch {
	case exact && (hasLeast || hasMost):
		return nil, invalid(errors.New("count: leave it out with min_count or max_count"))
	case hasLeast && hasMost && least > most:
		return nil, invalid(errors.New("min_count: must not be above max_count"))
	case exact:
		least, most, hasMost, want = count, count, true, strconv.Itoa(count)
	case hasLeast && hasMost:
		want = fmt.Sprintf("%d to %d", least, most)
	case hasMost:
		want = fmt.Sprintf("at most %d", most)
	case !hasLeast && !q.Has("wait"):
		return list(), nil
	case !hasLeast:
		least, want = 1, "at least 1"
	}
	var items []T
	h.poll(r, wait, func() bool {
		items = list()
		return len(items) >= least && (least > 0 || len(items) > most)
	})
	switch {
	case len(items) < least:
		return nil, &httpError{http.StatusConflict, fmt.Errorf("%d match, want %s; %s", len(items), want, nearest())}
	case hasMost && len(items) > most:
		return nil, &httpError{http.StatusConflict, fmt.Errorf("%d match, want %s", len(items), want)}
	}
	return items, nil
}

// numberOf returns a parameter that is a whole number, and whether it is given.
func numberOf(q url.Values, name string) (n int, given bool, err error) {
	if !q.Has(name) {
		return 0, false, nil
	}
	n, err = strconv.Atoi(q.Get(name))
	if err != nil || n < 0 {
		return 0, true, invalid(fmt.Errorf("%s: must be a whole number", name))
	}
	return n, true, nil
}

// durationOf returns a parameter that limits the wait of a request.
func durationOf(q url.Values, name string, byDefault time.Duration) (time.Duration, error) {
	if !q.Has(name) {
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

// loadSnapshot restores a snapshot of saveSnapshot. Faults and journal stay. Requests in flight end
// first, as in Reset.
func (h server) loadSnapshot(r *http.Request) (any, error) {
	h.mu.Lock()
	saved, ok := h.snapshots[r.PathValue("name")]
	h.mu.Unlock()
	if !ok {
		return nil, &httpError{http.StatusNotFound, errors.New("there is no snapshot of that name")}
	}
	return nil, h.restore(r.Context(), h.Faults.Interrupt, saved.offset, saved.restore)
}
