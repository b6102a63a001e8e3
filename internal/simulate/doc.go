// Package simulate runs the provider against the API server through random
// histories, and checks that none of them loses, duplicates or pays for anything
// that no plan has named. It is for tests; the provider never links it.
//
//	        one seed
//	           │ draws configurations, events, order, faults, kills
//	           ▼
//	┌──────── engine ────────┐   tfprotov6 calls   ┌──────────┐
//	│ plan walk, apply walk, │────────────────────▶│ provider │ a new one for each walk
//	│ state, moved, import   │                     └────┬─────┘
//	└──────────┬─────────────┘           HTTP, in process, with faults
//	           │ plans, states                          ▼
//	           ▼                                   ┌─────────┐
//	        oracle ◀────── audit log ──────────────│ service │ on SQLite, in memory
//	                                               └─────────┘
//
// The engine (plan.go, apply.go, value.go) does what Terraform's core does, so
// that no CLI is needed: it validates, upgrades, reads and plans each object,
// orders creates and destroys as Terraform's graph does, create_before_destroy
// and deposed objects included, and checks each answer of the provider as
// Terraform does ("Provider produced inconsistent result"). Where Terraform works
// on independent objects at once, the engine draws an order.
//
// A history (history.go) has one or two root modules. Each of its steps changes
// something (draw.go: edits of the configuration; event.go: changes by somebody
// else, lost and restored states, imports, time that passes, restarts), and then
// plans and applies. While that goes on, requests fail, responses are lost, and
// provider or service are killed (network.go). A step draws from its own part of
// the seed, so that it does the same when others are left out; this is how
// Shrink makes a failing history small.
//
// The oracle (oracle.go, report.go) knows nothing of the provider's code. It
// compares what plans named with what the service's audit log says was done:
//
//   - an object is only deleted by a plan that destroys or replaces that object;
//   - what a configuration has after an apply was not deleted by it;
//   - domains and dedicated IPs are bought only as often as a plan said;
//   - no object is at two addresses after a successful apply;
//   - after a successful apply without faults the next plan is empty, and in the
//     end every history comes to rest or fails for a legitimate reason
//     (settle.go);
//   - no diagnostic blames the provider's developer or shows a secret.
//
// Time, ids and secrets come from the seed, and nothing waits: the same seed is
// the same history, to the byte. A finding prints the command that repeats it;
// what was mended stays in testdata/histories.txt, which go test runs again.
package simulate
