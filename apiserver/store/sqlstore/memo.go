package sqlstore

import (
	"maps"
	"strings"
)

// memo is what an update has read of accounts that it has locked, so that it reads it once.
type memo struct {
	// newest is the newest creation time of each list.
	newest map[list]int64
	// results are those of queries of the tables in memoized, by their text and arguments.
	results map[string]any
}

func newMemo() *memo { return &memo{newest: map[list]int64{}, results: map[string]any{}} }

// memoized are the tables of which results are kept. They are small and seldom written.
var memoized = map[string]bool{
	"accounts": true, "workspaces": true, "domains": true, "service_accounts": true, "authorizations": true,
}

// wrote forgets what a statement may have changed.
func (m *memo) wrote(statement string) {
	before := ""
	for word := range strings.FieldsSeq(statement) {
		if before == "INTO" || before == "FROM" || before == "UPDATE" {
			if memoized[word] {
				clear(m.results)
			}
			if before == "FROM" {
				maps.DeleteFunc(m.newest, func(l list, _ int64) bool { return l.table == word })
			}
			return
		}
		before = word
	}
}

// clear forgets everything.
func (m *memo) clear() {
	clear(m.newest)
	clear(m.results)
}

// remembered returns the result of a query, which read runs unless it is known. A view
// remembers nothing. Callers don't change the result.
func remembered[T any](r *reader, query string, args []any, read func() (T, error)) (T, error) {
	if r.memo == nil {
		return read()
	}
	var key strings.Builder
	key.WriteString(query)
	for _, arg := range args {
		text, ok := arg.(string)
		if !ok {
			return read()
		}
		key.WriteString("\x00" + text)
	}
	if known, ok := r.memo.results[key.String()].(T); ok {
		return known, nil
	}
	result, err := read()
	if err == nil {
		r.memo.results[key.String()] = result
	}
	return result, err
}
