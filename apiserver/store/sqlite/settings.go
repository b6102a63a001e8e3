package sqlite

import (
	"strconv"
	"time"
)

// pollTimeout is how long SQLite itself waits for the write lock. The writer retries, because
// SQLite polls less and less often and would wait for seconds.
const pollTimeout = 5 * time.Millisecond

// settings are what a connection is opened with.
type settings struct {
	// wait is how long SQLite itself waits for a lock.
	wait    time.Duration
	pragmas []string
}

// useWAL sets the journal mode, which the file keeps. It would change another program's
// database, and so is no setting.
const useWAL = `PRAGMA journal_mode = wal`

// toWrite returns the settings of connections that write. Larger caches save no measurable time:
// the operating system caches the file too.
func (o Options) toWrite() settings {
	synchronous := "synchronous = full"
	if o.unsynced {
		synchronous = "synchronous = off"
	}
	return settings{pollTimeout, []string{
		synchronous,
		"foreign_keys = on",
		"temp_store = memory",
		"cache_size = -4096",
		"wal_autocheckpoint = " + strconv.Itoa(o.checkpointFrames),
		// A long read makes the log grow; this truncates it.
		"journal_size_limit = 67108864",
	}}
}

// toRead returns the settings of connections that read. The file is in WAL mode already.
func (o Options) toRead() settings {
	return settings{o.LockTimeout, []string{"query_only = on", "cache_size = -128"}}
}
