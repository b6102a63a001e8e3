package sqlite

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

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

// writable returns the data source name for connections that write. The driver
// sets the busy timeout before all else, since what follows may need a lock.
func (f file) writable() string {
	synchronous := "synchronous(full)"
	if f.volatile || f.unsynced {
		synchronous = "synchronous(off)"
	}
	return f.dsn(pollTimeout, url.Values{
		"_pragma": {
			synchronous,
			"foreign_keys(on)",
			"temp_store(memory)",
			"cache_size(-16384)",
			"wal_autocheckpoint(0)", // the writer does it, after it has checked the file
			// A long read makes the log grow; this truncates it.
			"journal_size_limit(67108864)",
		},
		"_journal_mode": {"wal"}, // comes last, so that synchronous(off) holds for it already
	})
}

// readOnly returns the data source name for connections that read. The file is in WAL
// mode already.
func (f file) readOnly(wait time.Duration) string {
	return f.dsn(wait, url.Values{"_query_only": {"on"}})
}

// copying returns the data source name for connections that make a backup.
func (f file) copying(wait time.Duration) string { return f.dsn(wait, url.Values{}) }

func (f file) dsn(wait time.Duration, options url.Values) string {
	// The file exists. One that was removed meanwhile is not created again.
	options.Set("mode", "rw")
	options.Set("_busy_timeout", strconv.FormatInt(wait.Milliseconds(), 10))
	options.Set("_dqs", "0")
	options.Set("_error_rc", "1")
	path := filepath.ToSlash(f.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}
	return u.String()
}
