package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"gotest.tools/v3/assert"
)

// Log collects a log in JSON, one line for each entry. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	more  sync.Cond
	text  bytes.Buffer
	ended bool
}

var _ io.Writer = (*Log)(nil)

// NewLog returns an empty log.
func NewLog() *Log {
	l := new(Log)
	l.more.L = &l.mu
	return l
}

// Logger returns a logger that writes to the log.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.more.Broadcast()
	return l.text.Write(p)
}

// End ends every wait: no more lines will come.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.more.Broadcast()
}

// String returns the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Entries returns the entries whose message begins with prefix. Lines that are not JSON
// are skipped.
func (l *Log) Entries(prefix string) []Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries(prefix)
}

// entries is Entries for a caller who holds mu.
func (l *Log) entries(prefix string) (entries []Object) {
	for line := range strings.Lines(l.text.String()) {
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

// Wait waits for an entry with a message and returns it. It ends the test if
// the log ends first, or after a minute.
func (l *Log) Wait(t TB, msg string) Object { t.Helper(); return l.WaitFor(t, msg, 1) }

// WaitFor is [Log.Wait] for the n-th entry.
func (l *Log) WaitFor(t TB, msg string, n int) Object {
	t.Helper()
	entry, err := l.Await(t.Context(), msg, n)
	assert.Assert(t, err == nil, "%v:\n%s", err, l)
	return entry
}

// Await is [Log.WaitFor] for a log that may end first, which is an error.
func (l *Log) Await(ctx context.Context, msg string, n int) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.more.Broadcast()
	})()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		found := slices.DeleteFunc(l.entries(msg), func(e Object) bool { return e["msg"] != msg })
		switch {
		case len(found) >= n:
			return found[n-1], nil
		case l.ended:
			return nil, fmt.Errorf("the log ended with %d of %d entries %q", len(found), n, msg)
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%d of %d entries %q, %w", len(found), n, msg, ctx.Err())
		}
		l.more.Wait()
	}
}
