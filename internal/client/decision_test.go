package client

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/client/transport"
)

// TestDecisionTableIsComplete checks that every situation has a rule, every rule is
// needed, and none resends against the retry policy.
func TestDecisionTableIsComplete(t *testing.T) {
	lookups := []lookup{notMade, foundNone, foundOne, foundSeveral, lookupFailed}
	outcomes := []transport.Outcome{transport.Succeeded, transport.Refused, transport.Busy, transport.NotSent, transport.Failed, transport.NoResponse}
	seen := map[decision]bool{}
	for bits := range 2 * slow {
		for _, l := range lookups {
			for _, after := range outcomes {
				holds := bits
				d := decide(l, holds, after)
				seen[d] = true
				if d == resend && holds&retry == 0 || d == lookUp && l != notMade || d == resend && holds&(paid|secret) == paid && l != foundNone ||
					d == resend && holds&(once|slow|keys) == once|slow {
					t.Errorf("%v %b %v: %v", l, holds, after, d)
				}
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("decisions %v", seen)
	}
}

// TestNothingFound checks that a create without a found object returns the API's error
// only if the API has sent one and no money may have been spent.
func TestNothingFound(t *testing.T) {
	for after, want := range map[transport.Outcome]struct{ free, paid decision }{
		transport.NoResponse: {reportUnknown, reportUnknown},
		transport.NotSent:    {reportUnknown, reportUnknown},
		transport.Succeeded:  {reportUnknown, reportUnknown},
		transport.Failed:     {reportFailure, reportUnknown},
		transport.Busy:       {reportFailure, reportUnknown},
		transport.Refused:    {reportFailure, reportFailure},
	} {
		if free, costs := decide(foundNone, 0, after), decide(foundNone, paid, after); free != want.free || costs != want.paid {
			t.Errorf("after %d: %v, and %v if paid", after, free, costs)
		}
	}
}
