package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gotest.tools/v3/assert"
)

// Log collects a log in JSON, one line for each entry. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	more  chan struct{} // closed when the log grows or ends
	text  bytes.Buffer
	ended bool
}

// NewLog returns an empty log.
func NewLog() *Log { return &Log{more: make(chan struct{})} }

// Logger returns a logger that writes to the log.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.more)
	l.more = make(chan struct{})
	return l.text.Write(p)
}

// End ends every wait: no more lines will come.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	close(l.more)
	l.more = make(chan struct{})
}

// String returns the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Entries returns the entries with a message that begins with prefix. It skips lines that
// are not JSON.
func (l *Log) Entries(prefix string) (entries []Object) {
	for line := range strings.Lines(l.String()) {
		var entry Object
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		if msg, _ := entry["msg"].(string); strings.HasPrefix(msg, prefix) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// Wait waits for an entry with a message and returns the entry. It fails the test if
// the log ends first, or after a minute.
func (l *Log) Wait(t TB, msg string) Object { t.Helper(); return l.WaitFor(t, msg, 1) }

// WaitFor is [Log.Wait] for the n-th entry.
func (l *Log) WaitFor(t TB, msg string, n int) Object {
	t.Helper()
	entry, err := l.Await(t.Context(), msg, n)
	assert.Assert(t, err == nil, "%v:\n%s", err, l)
	return entry
}

// WaitForRequest waits for the entry of a request. The entries that the server wrote before are in the log too, which
// a response alone does not say if the server is another process.
func (l *Log) WaitForRequest(t TB, id string) {
	t.Helper()
	_, err := l.await(t.Context(), "of request "+id, 1, func(e Object) bool { return e["request_id"] == id })
	assert.Assert(t, err == nil, "%v:\n%s", err, l)
}

// Await is [Log.WaitFor], but returns an error if the log ends first.
func (l *Log) Await(ctx context.Context, msg string, n int) (Object, error) {
	return l.await(ctx, strconv.Quote(msg), n, func(e Object) bool { return e["msg"] == msg })
}

func (l *Log) await(ctx context.Context, name string, n int, match func(Object) bool) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		l.mu.Lock()
		more, ended := l.more, l.ended
		l.mu.Unlock()
		found := slices.DeleteFunc(l.Entries(""), func(e Object) bool { return !match(e) })
		if len(found) >= n {
			return found[n-1], nil
		}
		if ended {
			return nil, fmt.Errorf("the log ended with %d of %d entries %s", len(found), n, name)
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d entries %s, %w", len(found), n, name, ctx.Err())
		}
	}
}
