// Package chaos tests the provider against the API server over a network with faults.
//
// A row of its table is one life of a configuration of 300 objects: it is created,
// changed and destroyed, while one kind of fault hits 1, 5 or 20 percent of the requests.
// A user would run a failed apply again, and so does the row. After each of the three
// stages, the account must have exactly what the configuration says, nothing may have been
// created, deleted or paid for that no plan named, and the next plan must be empty.
//
//	seed ──▶ faults ─┐
//	core ──▶ provider ──▶ net/http client ══ connection ══▶ net/http server ──▶ service
//	  │ plans, states                                                             │
//	  └────────────────────▶ checks ◀───── lists and audit log, without faults ───┘
//
// # Rows
//
// A row is named by its fault, rate, mode and engine, such as reset-after/20/nokeys/sqlite.
// The modes are those of the server: keys honours the Idempotency-Key header, nokeys ignores
// it, and published ignores it and has the published operations only. The engine is that of
// the server's store; without PostgreSQL its rows are skipped.
//
//	make chaos                                      every row once
//	make chaos ROW=html SEED=7 RUNS=10              the rows whose name begins with html, for ten seeds
//	make chaos ROW=reset-after/20/nokeys/sqlite SEED=4711
//	                                                one row, with a log of its requests
//
// A row with findings leaves this log in bin.
//
// # What no client can mend
//
// A server that honours keys executes a request once, however often it arrives. Without keys
// the client has only the lists, and three faults leave what it can't find there. The rows
// without keys do not have them:
//
//   - A claim or the create of a service account arrives twice, and the second response goes
//     nowhere. Neither has a name that is unique.
//   - One of these arrives after the client has given up. The client does not resend it, and
//     its error says what may exist, but whoever applies again without looking creates a
//     second one.
//   - Any other create arrives that late. The next apply is a conflict whose error shows the
//     import block, because the object could as well be somebody else's. (A late purchase is
//     in the rows: the next apply adopts the domain, and nothing is paid twice.)
//
// With the published operations only, records and service accounts can't be listed either: a
// lost response to their creates is an error that names what may exist.
//
// # Seeds
//
// Seed and row decide which requests have a fault: a request has the same one whenever it
// is sent in the same row (network_test.go). Calls run ten at a time as in Terraform, so
// that two runs may still differ in the order of requests, and in which of them share a
// list.
//
// # Time
//
// A row runs in a bubble of testing/synctest, in which time passes only while everything
// waits. Retry-After and timeouts therefore have their real lengths and cost nothing. The
// connections are in memory, so that an idle one does not keep time from passing; on both
// ends of them is net/http. Those to PostgreSQL are real: a query takes none of the bubble's
// time.
//
// # Core
//
// The core (core_test.go) walks the configuration as Terraform does, over the plugin
// protocol: it reads and plans each object, and applies the changes in the order of their
// dependencies. A few rows, whose names end with cli, run a build of the provider through a
// real CLI instead, on loopback and in real time (cli_test.go).
//
// The package has only tests. Package simulate has histories of one call at a time, with
// crashes, imports and several accounts; this package has real connections, ten calls at a
// time, and large configurations.
package chaos
