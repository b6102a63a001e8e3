package simulate

import "testing"

// TestChaos runs histories in which a fifth of all requests have one fault: each fault with a
// service that honours Idempotency-Keys, one that ignores them, and one with the published
// operations only. With -short each fault has one of these services.
func TestChaos(t *testing.T) {
	var cases []Case
	for i, f := range faults {
		for mode := range 3 {
			if testing.Short() && mode != i%3 {
				continue
			}
			cases = append(cases, Case{Seed: 1, Fault: f.name, NoKeys: mode == 1, Published: mode == 2})
		}
	}
	simulate(t, cases...)
}
