package client

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestDecide goes through every situation: nothing is resent against the retry policy, after
// a look that failed only what is free and to an API that honours keys, and after a slow attempt
// nothing that costs money or has a secret.
func TestDecide(t *testing.T) {
	has := func(all, f facts) bool { return all&f != 0 }
	seen := map[decision]bool{}
	for holds := range 2 * slow {
		for found := range 3 {
			for _, lookupErr := range []error{nil, errNoList} {
				if lookupErr != nil && found > 0 {
					continue
				}
				isReplay := has(holds, keys) && !has(holds, paid)
				want := fail
				switch {
				case found == 1 && !has(holds, secret):
					want = take
				case !has(holds, retry):
				case lookupErr != nil || found > 0:
					if isReplay {
						want = resend
					}
				case !has(holds, slow), has(holds, keys), !has(holds, paid|secret):
					want = resend
				}
				got := decide(found, lookupErr, holds)
				assert.Check(t, got == want, "found %d, %v, %b: %v, want %v", found, lookupErr, holds, got, want)
				seen[got] = true
			}
		}
	}
	assert.Check(t, len(seen) == 3, "decisions %v", seen)
}
