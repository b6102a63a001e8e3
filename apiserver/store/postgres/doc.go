// Package postgres keeps a store in a PostgreSQL database, version 14 or later, which any
// number of processes use at the same time: it runs the transactions of package sqlstore
// there. Nothing else in the module imports github.com/jackc/pgx.
//
// # Updates
//
// An update is a READ COMMITTED transaction. It locks the row of an account before it reads or
// writes anything of the account (SELECT … FOR NO KEY UPDATE), so that it is alone on the account
// and each statement sees all earlier commits. Accounts don't wait for each other. The list of
// accounts is protected by another lock (pg_advisory_xact_lock), and values that are unique in all
// accounts, such as the name of a domain, by constraints.
//
// In a process, an update with an account (store.InAccount) waits for the other updates of the
// account before it takes a connection, or joins their transaction: updates that wait at the
// same time share a commit. There are no savepoints: if a joined update fails after a write,
// the transaction is rolled back and each of its updates runs again alone.
//
// The function of an update runs again after a deadlock, after a conflict with a unique value of
// another account, and after the loss of the connection before the commit. For a connection lost
// during the commit, Update returns store.ErrUnavailable, although the changes may have been
// kept: the caller must look them up, or resend its request with the same Idempotency-Key.
//
// # Views
//
// A view is a REPEATABLE READ, READ ONLY transaction, and so one snapshot.
//
// # Plans
//
// Planning takes longer than most statements run. Every statement keeps one plan for all arguments
// (plan_cache_mode = force_generic_plan). The plan uses an index even if the table was small when
// the plan was made.
//
// # Poolers
//
// At a pooler nothing outlives a transaction: settings are SET LOCAL, and advisory locks end with
// the transaction. PgBouncer in transaction mode therefore works. The package recognizes a
// connection to a pooler by its process id, which differs from the server's. It uses named prepared
// statements on direct connections only, because PgBouncer supports them only since 1.21. The
// parameter default_query_exec_mode of the URL overrides this: cache_statement for a pooler that
// keeps prepared statements, cache_describe or describe_exec.
//
// PgBouncer does not refuse a transaction while it lacks a connection to the server, but delays its
// BEGIN, by default for two minutes. BEGIN therefore times out after ten seconds. An update, which
// locks the account in BEGIN, adds the lock timeout. After a timeout the store is unavailable.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package postgres
