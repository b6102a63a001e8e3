// Package capi calls SQLite's C API, which modernc.org/sqlite/lib is a translation of. It
// replaces the driver for database/sql: that copies a value three times on its way, locks
// a mutex for each column, and reads the names and types of all columns of each query.
//
// A Conn with its statements is for one goroutine at a time, so that SQLite needs no
// mutex of its own. The package alone has unsafe code: memory.go. It imports nothing else
// of the module.
package capi

import (
	"fmt"
	"math"
	"strings"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

func init() { lib.PatchIssue199() } // as the driver does: the page size on linux/arm64

// Error is an error of SQLite.
type Error struct {
	// Code is the extended result code.
	Code int
	msg  string
}

func (e *Error) Error() string { return e.msg }

// Conn is a connection to a database file.
type Conn struct {
	tls *libc.TLS
	db  uintptr
	// name is "main", the schema of the file.
	name uintptr
}

// Open opens an existing file. It waits for busyTimeout where it needs a lock.
func Open(path string, busyTimeout time.Duration) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS()}
	file, err := libc.CString(path)
	if err != nil {
		c.tls.Close()
		return nil, err
	}
	defer libc.Xfree(c.tls, file)
	out := c.tls.Alloc(pointerSize)
	defer c.tls.Free(pointerSize)
	rc := lib.Xsqlite3_open_v2(c.tls, file, out, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_NOMUTEX|lib.SQLITE_OPEN_EXRESCODE, 0)
	c.db = load[uintptr](out) // also if it could not be opened
	if rc == lib.SQLITE_OK {
		c.name, err = libc.CString("main")
	} else {
		err = c.failure(rc)
	}
	if err == nil {
		err = c.check(lib.Xsqlite3_busy_timeout(c.tls, c.db, int32(min(busyTimeout.Milliseconds(), math.MaxInt32))))
	}
	for option, on := range map[int32]int32{
		lib.SQLITE_DBCONFIG_DQS_DML: 0, lib.SQLITE_DBCONFIG_DQS_DDL: 0, // "x" is a column and never a text
		// Otherwise a statement with a parameter in LIMIT, LIKE or beside a partial index
		// would be prepared anew for each execution.
		lib.SQLITE_DBCONFIG_ENABLE_QPSG: 1,
	} {
		if err == nil {
			err = c.configure(option, on)
		}
	}
	if err != nil {
		_ = c.Close() // nothing was done
		return nil, err
	}
	return c, nil
}

func (c *Conn) configure(option, on int32) error {
	const size = 2 * 8 // libc takes 8 bytes for each argument
	arguments := c.tls.Alloc(size)
	defer c.tls.Free(size)
	return c.check(lib.Xsqlite3_db_config(c.tls, c.db, option, libc.VaList(arguments, on, uintptr(0))))
}

// Close closes the connection, whose statements must have been closed.
func (c *Conn) Close() error {
	var err error
	if rc := lib.Xsqlite3_close_v2(c.tls, c.db); rc != lib.SQLITE_OK {
		err = c.failure(rc)
	}
	if c.name != 0 {
		libc.Xfree(c.tls, c.name)
	}
	c.tls.Close()
	return err
}

// Run runs the statements of a script, without parameters, and ignores their rows.
func (c *Conn) Run(script string) error {
	text, err := libc.CString(script)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, text)
	return c.check(lib.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0))
}

// Prepare prepares a statement. It returns nil for a script of several.
func (c *Conn) Prepare(query string) (*Stmt, error) {
	text, err := libc.CString(query)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	out := c.tls.Alloc(2 * pointerSize)
	defer c.tls.Free(2 * pointerSize)
	tail := out + pointerSize
	if err := c.check(lib.Xsqlite3_prepare_v2(c.tls, c.db, text, -1, out, tail)); err != nil {
		return nil, err
	}
	s := &Stmt{conn: c, stmt: load[uintptr](out)}
	if rest := query[load[uintptr](tail)-text:]; strings.TrimSpace(rest) != "" {
		s.Close()
		return nil, nil
	}
	return s, nil
}

// DataVersion returns a number that changes when a snapshot begins after a commit of any
// other connection.
func (c *Conn) DataVersion() (uint32, error) {
	const size = 8
	out := c.tls.Alloc(size)
	defer c.tls.Free(size)
	err := c.check(lib.Xsqlite3_file_control(c.tls, c.db, c.name, lib.SQLITE_FCNTL_DATA_VERSION, out))
	return load[uint32](out), err
}

// Changes returns how many rows the last INSERT, UPDATE or DELETE changed.
func (c *Conn) Changes() int64 { return int64(lib.Xsqlite3_changes(c.tls, c.db)) }

func (c *Conn) check(rc int32) error {
	if rc == lib.SQLITE_OK {
		return nil
	}
	return c.failure(rc)
}

// failure returns the error of a result code.
func (c *Conn) failure(rc int32) error {
	description := libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
	msg := description
	// The message is that of another operation if its code differs.
	if c.db != 0 && lib.Xsqlite3_extended_errcode(c.tls, c.db)&0xff == rc&0xff {
		if detail := libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db)); detail != description {
			msg += ": " + detail
		}
	}
	msg += fmt.Sprintf(" (%d)", rc)
	if rc == lib.SQLITE_BUSY {
		msg += " (SQLITE_BUSY)"
	}
	return &Error{Code: int(rc), msg: msg}
}
