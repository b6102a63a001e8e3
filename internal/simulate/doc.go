// Package simulate tests the provider against the API server with random histories: a
// sequence of configuration changes, Terraform runs, faults and crashes. It checks that
// no history loses, duplicates or pays for an object unless a plan said so.
//
//	        one seed
//	           │ generates configurations, events, order, faults, crashes
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
// # How to read a finding and repeat it
//
// A failing test prints the finding and a command:
//
//	bought too often: dedicated_ip was bought 2 times, but planned 1 times
//
//	Repeat it with:
//	  make simulate SEED=4711/0,3/nofaults
//
// The words before the colon are the invariant that was violated. The seed is already
// shrunk: of history 4711 only the steps 0 and 3 are needed, and no faults. The command
// runs exactly this history again and prints its log, in which you find:
//
//	step 3                         the step, followed by its events
//	edit: remove mailhost_mailbox.a
//	plan one {…}                   the plan of the stack "one", its options and configuration
//	  one: POST /mailboxes … -> 201  each request and its response or fault
//	plan: 2 changes: …             what the plan will do
//	apply: <nil>; state: …         the error of the apply, and the state after it
//
// Read the log from the end: the last apply violated the invariant. To search for more,
// run make simulate SEED=1 RUNS=10000.
//
// SEED=4711/postgres runs a history on PostgreSQL, with three replicas that take turns; of the
// histories of RUNS, a tenth runs there too. A killed replica loses its connections to the
// database.
//
// # Engine
//
// The engine does what Terraform's core does, so that no CLI is needed (plan_test.go,
// apply_test.go, value_test.go). Histories and the rows of TestChaos run on it. It validates, upgrades, reads and plans each object,
// orders creates and destroys like Terraform's graph, including create_before_destroy and
// deposed objects, and checks each response of the provider ("Provider produced
// inconsistent result"). Where Terraform works on independent objects concurrently, the
// engine chooses a random order in a history, and makes ten calls at a time in a row.
//
// # Histories
//
// A history has one or two stacks, which are root modules with a state (history_test.go).
// Each step makes some changes: edits of the configuration (generate_test.go), or external
// changes, lost and restored states, imports, elapsed time and restarts (event_test.go).
// Then it plans and applies. Meanwhile requests fail, responses are lost, and the provider
// or the service is killed (network_test.go). Histories and rows have the same faults
// (fault_test.go).
//
// Time, ids and secrets come from the seed, and nothing waits, so a seed always produces
// the same history. Each step has its own random source, so that it does the same if
// other steps are omitted; Shrink (case_test.go) relies on this.
//
// # Oracle
//
// The oracle does not depend on the provider's code. It compares the plans with the
// service's audit log (oracle_test.go, report_test.go):
//
//   - An object is deleted only if a plan destroys or replaces it. A mailbox of a set and a
//     record of a zone is deleted or changed only if the plan names it (mailboxset_test.go,
//     dnszone_test.go), and a set deletes no more than max_deletions.
//   - An apply does not delete an object that is in the state after it.
//   - A domain or dedicated IP is bought only as often as planned.
//   - After a successful apply no object is at two addresses.
//   - The plan after a successful apply without faults is empty, and every history
//     finally converges or fails for an acceptable reason (converge_test.go). The service
//     then has exactly what the sets and zones of the configuration say.
//   - No diagnostic blames the provider's developers or contains a secret.
//
// # Chaos
//
// A row of TestChaos is one life of a configuration of 300 objects: it is created, changed
// and destroyed, while one kind of fault hits 1, 5 or 20 percent of the requests on a real
// net/http connection. A user would run a failed apply again, and so does the row. After
// each of the three stages, the account must have exactly what the configuration says,
// nothing may have been created, deleted or paid for that no plan named, and the next plan
// must be empty.
//
// A row is named by its fault, rate, mode and engine, such as reset-after/20/nokeys/sqlite.
// The modes are modes of the server: keys honours the Idempotency-Key header, nokeys ignores
// it, and published ignores it and has the published operations only. The engine is the
// server's store; without PostgreSQL its rows are skipped.
//
//	make chaos                                      every row once
//	make chaos ROW=html SEED=7 RUNS=10              the rows whose name begins with html, for ten seeds
//	make chaos ROW=reset-after/20/nokeys/sqlite SEED=4711
//	                                                one row, with a log of its requests
//
// A row with findings leaves this log in bin. Seed and row decide which requests have a
// fault (connection_test.go); because calls run ten at a time, two runs may still differ in
// the order of requests. A row runs in a bubble of testing/synctest, in which time passes
// only while everything waits, so that timeouts have their real lengths and cost nothing.
//
// A server that honours keys executes a request once, however often it arrives. Without keys
// the client has only the lists, and three faults leave what it can't find there. The rows
// without keys do not have them:
//
//   - A claim or the create of a service account arrives twice, and the second response is
//     lost. Neither has a name that is unique.
//   - One of these arrives after the client has given up. The client does not resend it, and
//     its error says what may exist, but a user who applies again without looking creates a
//     second one.
//   - Any other create arrives that late. The next apply is a conflict whose error shows the
//     import block, because the object could as well be somebody else's. (A late purchase is
//     in the rows: nothing is paid twice.)
//
// With the published operations only, records and service accounts can't be listed either: a
// lost response to their creates is an error that names what may exist.
//
// The package has only tests.
package simulate
