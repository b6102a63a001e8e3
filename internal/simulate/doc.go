// Package simulate tests the provider against the API server with random histories: a
// sequence of configuration changes, Terraform runs, faults and crashes. It checks that
// no history loses, duplicates or pays for an object unless a plan said so.
//
// # How to read a finding and repeat it
//
// A failing test prints the finding and a command:
//
//	bought too often: dedicated_ip was bought 2 times, but planned 1 times
//
//	Repeat it with:
//	  make simulate SEED=4711/0,3/nofaults
//
// The words before the colon name the violated invariant. The seed is already shrunk: only the
// steps 0 and 3 of history 4711 are needed, and no faults. The command runs exactly this history
// again and prints its log: each step with its events, the plan and configuration of a stack, each
// request and its response or fault, and the state after the apply. Read the log from the end: the
// last apply violated the invariant. To search for more findings, run make simulate SEED=1
// RUNS=10000; a tenth of these histories also runs on PostgreSQL, with three replicas that take
// turns. SEED=4711/postgres runs one history there.
//
// # Engine and histories
//
// Package core of acctest replaces Terraform's core, so that no CLI is needed, and checks each
// response of the provider ("Provider produced inconsistent result"). Where Terraform works
// concurrently, it chooses a random order (plugin_test.go).
//
// A history changes one or two stacks: root modules with a state (history_test.go).
// Each step makes some changes (generate_test.go, event_test.go), then it plans and applies.
// Meanwhile requests fail, responses are lost (fault_test.go), and the provider or the service
// is killed (network_test.go). Time, ids and secrets come from the seed, and nothing waits. Each
// step uses its own random source, so that it does the same if other steps are omitted; Shrink
// (case_test.go) relies on this. The clock of a replica may be wrong (event_test.go).
//
// # Chaos
//
// A history may name one fault, such as SEED=4711/reset-after. The fault hits a fifth of the
// requests, and there are no other faults and no crashes. With nokeys the service ignores the
// Idempotency-Key header, and with published it also offers the published operations only; make
// chaos runs each fault with each of these services.
// Without keys the faults omit copies that nobody can detect: a claim or the create of a service
// account that arrives twice, and a create that arrives after the client gave up.
//
// # Oracle
//
// The oracle does not depend on the provider's code. It compares the plans with the
// service's audit log (oracle_test.go):
//
//   - An object is deleted only if a plan destroys or replaces it. A mailbox of a set and a
//     record of a zone is deleted or changed only if the plan names it (mailboxset_test.go,
//     dnszone_test.go), and a set deletes no more than max_deletions.
//   - An apply does not delete an object that the state contains after the apply.
//   - A domain or dedicated IP is bought only as often as planned.
//   - After a successful apply no object is at two addresses.
//   - The plan after a successful apply without faults is empty, and every history
//     finally converges or fails for an acceptable reason (converge_test.go). The service
//     then contains exactly the mailboxes and records of the configured sets and zones.
//   - No diagnostic blames the provider's developers or contains a secret.
package simulate
