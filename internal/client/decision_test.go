package client

import "testing"

// TestDecisionTableIsComplete expects a rule for every situation, every rule to be
// needed, and none to resend without leave of the retry policy.
func TestDecisionTableIsComplete(t *testing.T) {
	lookups := []lookup{notMade, foundNone, foundOne, foundSeveral, foundDuplicate, lookupFailed}
	responses := []response{noResponse, errorStatus, refusal, unreadableResponse}
	seen := map[decision]bool{}
	for bits := range 1 << 4 {
		for _, l := range lookups {
			for _, r := range responses {
				s := situation{secret: bits&1 != 0, paid: bits&2 != 0, keys: bits&4 != 0, retry: bits&8 != 0, response: r, lookup: l}
				if l == foundDuplicate && !s.secret { // see lookupResult
					continue
				}
				d := decide(s)
				seen[d] = true
				if d == resend && !s.retry || d == lookUp && l != notMade || d == resend && s.paid && l != foundNone && !s.secret {
					t.Errorf("%+v: %v", s, d)
				}
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("decisions %v", seen)
	}
}
