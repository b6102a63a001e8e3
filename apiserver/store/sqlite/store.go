package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// Memory is the path of a new store that Close deletes.
const Memory = ":memory:"

const defaultLockTimeout = 10 * time.Second

// Options are the settings of a store. The zero value is ready for use.
type Options struct {
	// LockTimeout limits the wait for another process's write lock, 10 seconds by default.
	LockTimeout time.Duration
	// ReadOnly opens an existing file, which may be unwritable, without migrating it. Update returns
	// store.ErrReadOnly.
	ReadOnly bool
	// Exclusive opens an existing file that nobody else, including this process, can open until it
	// is closed. It fails with store.ErrInUse without waiting, because a server keeps the file open
	// for long. Open empties the log into the file, so that the file can be replaced. Transactions
	// must not be nested. With ReadOnly, it only reads a file that can't be written, unless a
	// process may have it open.
	Exclusive bool

	// For tests.
	maxGroup, checkpointFrames int
	migrations                 fs.FS

	unsynced bool // of a store in memory
}

// Open opens the store in a file, which it creates if it is missing, and migrates it to the
// current schema. For a later schema it returns store.ErrNewerSchema.
//
// The path Memory opens a new private store in a temporary file, because SQLite's memory databases
// have no snapshots: in the folder of TMPDIR, or in /dev/shm if that can't be written. No commit waits
// for the disk, and Close deletes the file.
func Open(ctx context.Context, path string, opts Options) (*sqlstore.Store, error) {
	opts = opts.withDefaults()
	opener := open
	switch {
	case path == Memory:
		opener = openMemory
	case opts.ReadOnly && opts.Exclusive:
		opener = openSource
	}
	e, err := opener(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return sqlstore.New(e, opts.dialect()), nil
}

func (o Options) withDefaults() Options {
	if o.LockTimeout = cmp.Or(max(o.LockTimeout, 0), defaultLockTimeout); o.Exclusive {
		o.LockTimeout = 0
	}
	o.maxGroup = cmp.Or(o.maxGroup, maxGroup)
	o.checkpointFrames = cmp.Or(o.checkpointFrames, checkpointFrames)
	return o
}

func (o Options) dialect() *sqlstore.Dialect {
	d := dialect
	if o.migrations != nil {
		d.Migrations, d.Own = o.migrations, nil
	}
	return &d
}

// openSource opens a file exclusively, or only to read it if no process can have it open, because nobody can
// write it here.
func openSource(ctx context.Context, path string, opts Options) (*engine, error) {
	opts.ReadOnly = false
	e, err := open(ctx, path, opts)
	if err == nil || errors.Is(err, store.ErrInUse) {
		return e, err
	}
	opts.ReadOnly, opts.Exclusive = true, false
	reading, readErr := open(ctx, path, opts)
	if readErr != nil || reading.readers.with.immutable || reading.remove != nil {
		return reading, readErr
	}
	err = fmt.Errorf("%w; if the file can't be written here, copy it with its -wal file to another folder, because a process may have it open", err)
	return nil, errors.Join(err, reading.Close())
}

// open opens a file with a first connection, so that a fault of the file is an error of open.
func open(ctx context.Context, path string, opts Options) (*engine, error) {
	find, with := newOrExistingFile, opts.toWrite()
	switch {
	case opts.ReadOnly:
		find, with = existingFile, opts.toRead()
	case opts.Exclusive:
		find = existingFile
	}
	path, err := find(path)
	if err != nil {
		return nil, err
	}
	at := location{path: path, with: with}
	if opts.ReadOnly {
		if at, err = locate(ctx, path, with); err != nil {
			return nil, err
		}
	}
	s, opened, err := openSession(ctx, at.path, at.with, opts)
	if err == nil && opts.Exclusive {
		if _, err = s.checkpoint(); err != nil {
			err = errors.Join(err, s.close())
		}
	}
	if opts.Exclusive && (isBusy(err) || errors.Is(err, errReplaced)) {
		err = store.ErrInUse
	}
	if err != nil && at.remove != nil {
		err = errors.Join(err, at.remove())
	}
	if err != nil {
		return nil, openError(path, err)
	}
	e := &engine{health: health{path: at.path, opened: opened}, dialect: opts.dialect(), remove: at.remove}
	if !opts.Exclusive { // otherwise the writer's connection is the only one
		with := opts.toRead()
		with.immutable = at.with.immutable
		e.readers = &readers{with: with, health: &e.health, slots: semaphore.NewWeighted(maxReaders)}
	}
	if opts.ReadOnly {
		e.readers.idle = append(e.readers.idle, s)
	} else {
		e.writer = &writer{path: path, opts: opts, health: &e.health, session: s, updates: newQueue(), stopped: make(chan struct{})}
		go e.writer.run()
	}
	return e, nil
}

// openSession connects to a file, and migrates it unless it is opened for reading only. It starts
// over if a restore replaces the file before the connection reads from it and so locks it.
func openSession(ctx context.Context, path string, with settings, opts Options) (s *session, opened os.FileInfo, err error) {
	err = whileBusy(opts.LockTimeout, func() error {
		if opened, err = os.Stat(path); err != nil {
			return err
		}
		if s, err = connect(ctx, path, with); err != nil {
			return err
		}
		err := s.prepare(ctx, opts, func() error {
			if now, err := os.Stat(path); err != nil || !os.SameFile(now, opened) {
				return errReplaced
			}
			return nil
		})
		if err != nil {
			err = errors.Join(err, s.close())
		}
		return err
	})
	return s, opened, err
}

// prepare reads the schema's version, calls check, and then migrates. An error of check comes first:
// a read from a replaced file may fail for any reason.
func (s *session) prepare(ctx context.Context, opts Options, check func() error) error {
	done, err := sqlstore.UpToDate(ctx, s, opts.dialect(), opts.ReadOnly)
	if err = cmp.Or(check(), err); err != nil || opts.ReadOnly {
		return err
	}
	if err := s.exec(useWAL); err != nil {
		return err
	}
	if err := s.exec(`BEGIN IMMEDIATE`); done && isBusy(err) {
		return nil // opening a migrated file waits for nobody
	} else if err != nil {
		return err
	}
	if done {
		// SQLite opens an unwritable file for reading without an error.
		return errors.Join(rewrite(ctx, s), s.exec(`ROLLBACK`))
	}
	if err := sqlstore.Migrate(ctx, s, opts.dialect()); err != nil {
		return err // closing the session rolls back
	}
	return s.exec(`COMMIT`)
}

// engine is SQLite's sqlstore.Engine.
type engine struct {
	health
	dialect *sqlstore.Dialect
	writer  *writer      // nil if the store is read-only
	readers *readers     // nil if the store is exclusive
	remove  func() error // removes the directory of a store in memory or of a copy, else nil
	close   sync.Once
}

var _ sqlstore.Engine = (*engine)(nil)

// View implements sqlstore.Engine.
func (e *engine) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	if e.readers == nil {
		return e.writer.update(ctx, fn)
	}
	return e.explain(e.readers.view(ctx, fn))
}

// Update implements sqlstore.Engine.
func (e *engine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	if e.writer == nil {
		return store.ErrReadOnly
	}
	return e.writer.update(ctx, fn)
}

// Close implements sqlstore.Engine.
func (e *engine) Close() (err error) {
	e.close.Do(func() {
		if e.writer != nil {
			e.writer.stop()
		}
		if e.readers != nil {
			err = e.readers.close()
		}
		if e.writer != nil {
			err = errors.Join(err, e.writer.close())
		}
		if e.remove != nil {
			err = errors.Join(err, e.remove())
		}
	})
	return err
}
