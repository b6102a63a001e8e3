package random_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
)

// TestIDAt checks that ids of different milliseconds are ordered by time, and that ids of one
// millisecond differ.
func TestIDAt(t *testing.T) {
	source := random.New(nil)
	start, last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ""
	for i := range 1000 {
		at := start.Add(time.Duration(i) * 7 * time.Millisecond)
		id := source.IDAt(at)
		parsed, err := uuid.Parse(id)
		assert.Assert(t, err == nil && parsed.Version() == 7 && parsed.Variant() == uuid.RFC4122, "%q is no UUID of version 7: %v", id, err)
		seconds, nanoseconds := parsed.Time().UnixTime()
		got := time.Unix(seconds, nanoseconds)
		assert.Assert(t, got.Equal(at), "%q has the time %s, want %s", id, got, at)
		assert.Assert(t, id > last && id != source.IDAt(at), "%q follows %q", id, last)
		last = id
	}
}
