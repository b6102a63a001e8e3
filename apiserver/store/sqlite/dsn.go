package sqlite

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// pollTimeout is how long SQLite itself waits for a lock when writing. It is
// short, because SQLite looks ever more rarely, up to ten times a second: a
// process that commits without pause would keep all others out for seconds.
// The writer's own loop goes on asking.
const pollTimeout = 5 * time.Millisecond

// file is a database file and how to connect to it.
type file struct {
	path string
	// volatile says that its contents need not outlive the process.
	volatile bool
}

// writable returns the data source name for connections that write. The driver
// sets the busy timeout before all else, since what follows may need a lock.
func (f file) writable() string {
	synchronous := "synchronous(full)"
	if f.volatile {
		synchronous = "synchronous(off)"
	}
	return f.dsn(pollTimeout, url.Values{
		"_pragma": {
			synchronous,
			"foreign_keys(on)",
			"temp_store(memory)",
			"cache_size(-16384)",
			"wal_autocheckpoint(0)", // the writer does it, after a look at the file
			// A reader that stays long makes the log grow; this gives the room back.
			"journal_size_limit(67108864)",
		},
		"_journal_mode": {"wal"}, // comes last, so that it waits for no disk where nothing does
	})
}

// readOnly returns the data source name for connections that read. The file is
// in WAL mode already, so there is nothing else to set on them.
func (f file) readOnly(wait time.Duration) string {
	return f.dsn(wait, url.Values{"_query_only": {"on"}})
}

// copying returns the data source name for connections that make a backup.
func (f file) copying(wait time.Duration) string { return f.dsn(wait, url.Values{}) }

func (f file) dsn(wait time.Duration, options url.Values) string {
	// The file exists. One that has been removed meanwhile is not made anew.
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
