// Package postgres keeps a store in a PostgreSQL database, version 14 or later, which any
// number of processes use at the same time: it runs the transactions of package sqlstore
// there. Nothing else in the module imports github.com/jackc/pgx.
//
// # Updates
//
// An update is a READ COMMITTED transaction. It locks the row of an account before it
// reads or writes anything of the account (SELECT … FOR NO KEY UPDATE), so that it is
// alone there, and each of its statements sees what was committed before. Accounts don't
// wait for each other. The list of accounts has a lock of its own (pg_advisory_xact_lock).
// What is unique in all accounts, such as the name of a domain, is so by constraints.
// In a process, an update that names its account (store.InAccount) waits for the others of
// the account before it takes a connection, or joins their transaction: those that wait at the
// same time have one commit. There are no savepoints: if one of them fails after it has written,
// the transaction is rolled back and each runs again alone.
//
// The function of an update runs again after a deadlock, after a unique value that another
// account has taken in the meantime, and after a connection that was lost before the commit.
// A connection that is lost during the commit is an error that is store.ErrUnavailable,
// although the changes may have been kept: the caller has to look, or to send its request
// again under the same Idempotency-Key.
//
// # Views
//
// A view is a REPEATABLE READ, READ ONLY transaction, and so one snapshot.
//
// # Plans
//
// Planning takes longer than most statements run. All keep one plan whatever their arguments
// (plan_cache_mode = force_generic_plan), which searches an index also in a table that was
// small when the plan was made.
//
// # Poolers
//
// At a pooler nothing outlives a transaction: settings are SET LOCAL, and advisory locks are those
// of the transaction. PgBouncer in transaction mode therefore works. A connection that ends
// at a pooler is recognized by its process id, which is not the server's. It gets no named
// prepared statements, which PgBouncer knows since 1.21 only; direct connections do.
// The parameter default_query_exec_mode of the URL overrides that: cache_statement for a
// pooler that keeps prepared statements, cache_describe or describe_exec. PgBouncer does not refuse
// a transaction while it has no connection to the server, but delays its BEGIN, by default
// for two minutes: BEGIN has a timeout of its own, ten seconds for a view, and the lock timeout
// besides for an update, whose BEGIN also locks the account. Then the store is unavailable.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package postgres
