package sqlite

import "time"

// pollTimeout is how long SQLite itself waits for the write lock. It is short, and the
// writer retries, because SQLite polls less and less often: a process that commits
// without pause would lock all others out for seconds.
const pollTimeout = 5 * time.Millisecond

// file is a database file.
type file struct {
	path string
	// volatile means that its content need not outlive the process.
	volatile bool
	// unsynced means that no commit waits for the disk.
	unsynced bool
}

// settings are what a connection is opened with.
type settings struct {
	// wait is how long SQLite itself waits for a lock.
	wait    time.Duration
	pragmas []string
	// harmless connections leave the file and the log as they are, also when they close.
	harmless bool
}

// writable returns the settings of connections that write. All caches of a process are one,
// which may become as large as their sizes together, and a page of 4 KiB takes 9 KiB of it.
// Larger ones save no time that can be measured: the operating system caches the file too.
func (f file) writable() settings {
	synchronous := "synchronous = full"
	if f.volatile || f.unsynced {
		synchronous = "synchronous = off"
	}
	return settings{wait: pollTimeout, pragmas: []string{
		synchronous,
		"foreign_keys = on",
		"temp_store = memory",
		"cache_size = -4096",
		"wal_autocheckpoint = 0", // the writer does it, after it has checked the file
		// A long read makes the log grow; this truncates it.
		"journal_size_limit = 67108864",
		"journal_mode = wal", // comes last, so that synchronous = off holds for it already
	}}
}

// readOnly returns the settings of connections that read. The file is in WAL mode
// already.
func (f file) readOnly(wait time.Duration) settings {
	return settings{wait: wait, pragmas: []string{"query_only = on", "cache_size = -128"}}
}

// copying returns the settings of connections that make a backup.
func (f file) copying(wait time.Duration) settings { return settings{wait: wait} }
