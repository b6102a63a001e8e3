// Package sqlite keeps a store in an SQLite file: it opens the file, runs the
// transactions of package sqlstore in it, and makes backups. Nothing else in
// the module imports zombiezen.com/go/sqlite.
//
// # Concurrency
//
// Several processes may have one file open. In each process one goroutine writes
// for all callers and groups the updates that wait into one commit, because a
// commit costs a disk flush. Readers work on snapshots and wait for nobody.
//
// # Replaced and truncated files
//
// SQLite does not notice that somebody overwrites an open database file with a
// backup or truncates it: it mixes cached pages and its write-ahead log (WAL) with
// the other content. This package notices (see monitor), keeps nothing from then on,
// and leaves both the new content and the WAL in place when it closes.
//
// Two fields in the header of the file (its first 100 bytes) identify its content:
//
//   - application_id: 16 bits mark a file as this program's. The other 16 are
//     random: the instance, new in each database and each backup.
//   - user_version: the low 8 bits are the schema's version. The others are the
//     generation, which every commit that writes increases.
//
// Every commit therefore has page 1 in the WAL, and a checkpoint of the whole WAL,
// which copies its pages into the file, writes a newer header. While the file is
// open, its instance stays and its generation never decreases. Its header is one of
// those in the WAL, or has the generation just before the first one in the WAL.
//
// A checkpoint that a reader's snapshot limits to the beginning of the WAL is an
// exception: it copies the latest version of a page or none, so it may leave the
// header alone. The WAL index, the -shm file, counts the frames that checkpoints have
// copied. A change of the file below the same header is a checkpoint if the counters
// have changed too.
//
//	what is found                                 what has happened
//	the path leads nowhere or to another file     the file was moved or replaced; back in place it works again
//	the file is shorter than its header says      it was truncated
//	another instance, an older generation         it was overwritten
//	the same header, other size or time,          it was overwritten with the content it had at the
//	  and the counters have not changed             last checkpoint
//	a header that does not fit the WAL            it was overwritten
//	the WAL is shorter or has another header,     the WAL was truncated or overwritten; its changes are lost
//	  and there was no checkpoint
//	the -wal or -shm file is not at its path      it was removed; closing still saves what is in the WAL
//
// The file is checked before each view, before and after each commit, before each
// checkpoint, on Ping and on Close. A change in the middle of the file that keeps
// its size and its modification time goes unnoticed.
//
// A page that SQLite finds damaged makes the store unavailable until it is opened
// again, so that nothing more is built on it.
//
// Before a file is opened, checkFiles checks that it is one of this program, and in the
// same way as above that the WAL beside it belongs to it. A WAL that does not is renamed,
// because SQLite would write it into the file. A WAL that is missing or shorter than the
// -shm file says, after a crash, is an error. A file that can't be opened stays as it is,
// with its WAL.
package sqlite
