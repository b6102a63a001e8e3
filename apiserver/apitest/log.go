package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
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

// Await is [Log.WaitFor], but returns an error if the log ends first.
func (l *Log) Await(ctx context.Context, msg string, n int) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		l.mu.Lock()
		more, ended := l.more, l.ended
		l.mu.Unlock()
		found := slices.DeleteFunc(l.Entries(msg), func(e Object) bool { return e["msg"] != msg })
		if len(found) >= n {
			return found[n-1], nil
		}
		if ended {
			return nil, fmt.Errorf("the log ended with %d of %d entries %q", len(found), n, msg)
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d entries %q, %w", len(found), n, msg, ctx.Err())
		}
	}
}
