// Package sqlite keeps a store in an SQLite file: it opens the file, runs the
// transactions of package sqlstore in it, and makes backups. Nothing else in
// the module imports modernc.org/sqlite.
//
// # Concurrency
//
// Several processes may have one file open. In each process one goroutine writes
// for all callers and groups the updates that wait into one commit, because a
// commit costs a disk flush. Readers work on snapshots and wait for nobody.
//
// # The file
//
// The upper 16 bits of application_id mark a file as this program's, and the low 8 bits of
// user_version are the schema's version. The other bits are zero, or random in a file of
// version 0.1.0, and mean nothing.
//
// SQLite guards the content: other programs that use its locks may read, vacuum, reindex or
// checkpoint the file. A file that is overwritten or truncated while it is open is lost, and
// so is one that gets the write-ahead log (WAL) of another; SQLite reports some of that as
// damage, and this package reports it as store.ErrUnavailable.
//
// What SQLite does not report is a file that is moved or replaced by another one while it is
// open: it would go on to write where nobody looks. Each view and each commit therefore
// compares the path with the file that was opened, and fails until the path leads to it
// again. A connection has a shared lock on the file; Options.Exclusive keeps all others out, so
// that mailhostd restore replaces no file that somebody uses.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package sqlite
