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
// checkpoint the file. Overwriting or truncating an open file destroys it, and so does the
// write-ahead log (WAL) of another file beside it. SQLite reports some of this damage, and the
// package returns store.ErrUnavailable for it.
//
// SQLite does not notice that an open file was moved or replaced: it would go on to write to a file
// that nobody opens again. Each view and each commit therefore compares the path with the opened
// file, and fails until the path leads to it again. A connection holds a shared lock on the file.
// Options.Exclusive excludes all other connections, so that mailhostd restore does not replace a
// file in use.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package sqlite
