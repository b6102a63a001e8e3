package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	zombiezen "zombiezen.com/go/sqlite"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// Memory is the path of a store that is deleted when it is closed.
const Memory = ":memory:"

const defaultLockTimeout = 10 * time.Second

// Options are the settings of a store. The zero value is ready for use.
type Options struct {
	// LockTimeout is how long to wait for the write lock of another process, 10
	// seconds by default.
	LockTimeout time.Duration
	// ReadOnly opens an existing file, which other processes may have open, and does
	// not migrate it. Update returns ErrReadOnly.
	ReadOnly bool
	// Exclusive opens an existing file that nobody else has open. Otherwise the error is
	// store.ErrInUse.
	Exclusive bool
	// Logger logs a warning if a -wal file beside the file is renamed because it
	// belongs to other content; nil: slog.Default().
	Logger *slog.Logger

	// Tests set small numbers, the migrations of another version, and that no commit
	// waits for the disk, because only a power cut shows the difference.
	maxGroup, checkpointFrames, blockRows int
	unsynced                              bool
	migrations                            fs.FS
}

// Store is a store.Store in an SQLite file.
type Store struct {
	*sqlstore.Store
	engine *engine
}

var _ store.Store = (*Store)(nil)

// Open opens the store in a file and migrates it to the current schema. It creates a
// missing file, but not its directory. A later schema is an error that is
// store.ErrNewerSchema.
//
// The path Memory opens a new private store. It is a file in a temporary directory
// too, because SQLite's memory databases have no snapshots; no commit waits for the
// disk, and Close removes it.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = defaultLockTimeout
	}
	opts.maxGroup = cmp.Or(opts.maxGroup, maxGroup)
	opts.checkpointFrames = cmp.Or(opts.checkpointFrames, checkpointFrames)
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	e, err := open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	return &Store{Store: sqlstore.New(e, opts.dialect(), opts.blockRows), engine: e}, nil
}

func (o Options) dialect() dialect { return dialect{o.migrations} }

func open(ctx context.Context, path string, opts Options) (*engine, error) {
	if path == Memory {
		return openMemory(ctx, opts)
	}
	const attempts = 3
	for n := 1; ; n++ {
		e, err := openPath(ctx, path, opts)
		if n == attempts || !errors.Is(err, errReplaced) {
			return e, err
		}
	}
}

func openPath(ctx context.Context, path string, opts Options) (*engine, error) {
	if opts.ReadOnly {
		return openToRead(ctx, path, opts)
	}
	check := checkPath
	if opts.Exclusive {
		check = existingFile
	}
	path, err := check(path)
	if err != nil {
		return nil, err
	}
	moved, err := checkFiles(path, true)
	if err == nil {
		err = probe(ctx, path, opts.dialect())
	}
	if err != nil {
		return nil, openError(path, err)
	}
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	if moved != "" {
		opts.Logger.Warn("the database's content was replaced, and the log of the content before was moved out of its way; remove it if nobody needs it", "database", path, "log", moved)
	}
	f := file{path: path, unsynced: opts.unsynced}
	if opts.Exclusive {
		lock, err := LockFile(ctx, path)
		if err != nil {
			return nil, err
		}
		if err := lock.Unlock(); err != nil {
			return nil, openError(path, err)
		}
	}
	return openFile(ctx, f, opts)
}

func openMemory(ctx context.Context, opts Options) (*engine, error) {
	var content []byte
	if opts.migrations == nil {
		var err error
		if content, err = emptyStore(); err != nil {
			return nil, fmt.Errorf("open a store in memory: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "mailhost-")
	if err != nil {
		return nil, fmt.Errorf("open a store in memory: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	path := filepath.Join(dir, "mailhost.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, errors.Join(err, remove())
	}
	e, err := openFile(ctx, file{path: path, volatile: true}, opts)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	e.remove = remove
	return e, nil
}

// emptyStore returns the content of a new store's file. It is made once in a process,
// because the migrations take much longer than the rest of Open.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "mailhost-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mailhost.db")
	if err := createFile(path); err != nil {
		return nil, err
	}
	s, err := connect(context.Background(), path, file{path: path, volatile: true}.writable())
	if err != nil {
		return nil, err
	}
	// The last connection that closes copies the log into the file.
	if err := errors.Join(migrate(context.Background(), s, Options{}.dialect()), s.close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// checkPath returns the absolute path of a file that exists or can be created.
func checkPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("open %q: %w", path, err)
	}
	if err := checkKind(path); err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(abs)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("open %s: its directory does not exist; create it first", path)
	}
	return abs, nil
}

// prepareFile creates a missing file, which only its owner can read. SQLite gives the
// files beside it the same permissions.
func prepareFile(path string) error {
	if err := createFile(path); err != nil {
		return err
	}
	return closeToOthers(path)
}

// checkKind returns an error if a path can't be that of a database.
func checkKind(path string) error {
	if path == "" {
		return errors.New(`open "": the path is empty; name a file`)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the caller that needs the file reports it
	case info.IsDir():
		return fmt.Errorf("open %q: it is a directory; name a file in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("open %q: it is not a regular file; name one, or one that does not exist", path)
	}
	return nil
}

// closeToOthers lets only the owner read an empty file, which is about to become a
// database. The mode of an existing database stays.
func closeToOthers(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() > 0 || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("others than its owner can open the empty file, and a database holds secrets; remove it, and it is made anew: %w", err)
	}
	return nil
}

// createMu serializes createFile.
var createMu sync.Mutex

// createFile creates an empty file unless it exists. It must not open an existing one:
// closing a file releases all locks that this process has on it, those of another
// store among them.
func createFile(path string) error {
	createMu.Lock()
	defer createMu.Unlock()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err // which names the path
	}
	return f.Close()
}

// openFile opens a file with a writing connection, which reports what is wrong with
// the file. Readers connect when they are needed.
func openFile(ctx context.Context, f file, opts Options) (*engine, error) {
	var s *session
	err := whileBusy(opts.LockTimeout, func() (err error) { // other processes may be creating the database
		if s, err = connect(ctx, f.path, f.writable()); err != nil {
			return err
		}
		if err = s.checkPath(f.path); err == nil { // before anything is written
			err = migrate(ctx, s, opts.dialect())
		}
		if err == nil {
			err = s.tryToWrite()
		}
		if err != nil {
			err = errors.Join(err, s.close())
		}
		return err
	})
	if err != nil {
		return nil, openError(f.path, err)
	}
	e := &engine{file: f, lockTimeout: opts.LockTimeout}
	err = e.health.watch(f)
	if err == nil && !f.volatile && e.health.file != s.file {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(openError(f.path, err), s.close(), e.health.file.release())
	}
	e.health.connected()
	e.writer, e.readers = newWriter(f, s, &e.health, opts), newReaders(f, &e.health, opts.LockTimeout)
	go e.writer.run()
	return e, nil
}

// probe returns an error if a file with a log is damaged. Opened for writing, such a file
// would get the log written into it when the connection closes.
func probe(ctx context.Context, path string, d dialect) error {
	if real, err := filepath.EvalSymlinks(path); err != nil || isFree(real+"-wal") {
		return nil //nolint:nilerr // opening it reports what is wrong
	}
	s, err := connect(ctx, path, settings{wait: pollTimeout, harmless: true})
	if err == nil {
		_, err = sqlstore.UpToDate(ctx, s, d)
		if replaced := s.checkPath(path); replaced != nil {
			err = replaced
		}
		err = errors.Join(err, s.close())
	}
	if c := code(err); c == zombiezen.ResultCorrupt || c == zombiezen.ResultNotADB || errors.Is(err, errReplaced) {
		return err
	}
	return nil // opening it reports everything else
}

// migrate migrates the schema. It takes the lock only if that is needed, so that
// opening an existing file waits for nobody.
func migrate(ctx context.Context, s *session, d dialect) error {
	if done, err := sqlstore.UpToDate(ctx, s, d); done || err != nil {
		return err
	}
	if err := s.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := sqlstore.Migrate(ctx, s, d); err != nil {
		return err // closing the session rolls back
	}
	return s.exec(`COMMIT`)
}

// tryToWrite returns an error if the file can't be written, because SQLite opens such
// a file for reading. A lock of another process is no error.
func (s *session) tryToWrite() error {
	if err := s.exec(`BEGIN IMMEDIATE`); isBusy(err) {
		return nil
	} else if err != nil {
		return err
	}
	return errors.Join(s.advance(), s.exec(`ROLLBACK`))
}

// openToRead opens an existing file without a writer.
func openToRead(ctx context.Context, path string, opts Options) (*engine, error) {
	path, err := existingFile(path)
	if err != nil {
		return nil, err
	}
	if _, err := checkFiles(path, false); err != nil {
		return nil, openError(path, err)
	}
	if err := probe(ctx, path, opts.dialect()); err != nil {
		return nil, openError(path, err)
	}
	f := file{path: path}
	e := &engine{file: f, lockTimeout: opts.LockTimeout}
	if err := e.health.watch(f); err != nil {
		return nil, openError(path, err)
	}
	e.readers = newReaders(f, &e.health, opts.LockTimeout)
	err = e.readers.view(ctx, func(ctx context.Context, q sqlstore.Querier) error {
		if done, err := sqlstore.UpToDate(ctx, q, opts.dialect()); done || err != nil {
			return err
		}
		if version, err := (dialect{}).SchemaVersion(ctx, q); version == 0 {
			return cmp.Or(err, errNoStore)
		}
		return errOlderSchema
	})
	if !isAt(path, e.health.opened) {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(openError(path, err), e.Close())
	}
	e.health.connected()
	return e, nil
}

// existingFile returns the absolute path of a file. If there is none, the error is
// fs.ErrNotExist.
func existingFile(path string) (string, error) {
	if err := checkKind(path); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("open %q: no such database: %w", path, fs.ErrNotExist)
	} else if err != nil {
		return "", err // which names the path
	}
	return filepath.Abs(path)
}

// engine is SQLite's sqlstore.Engine.
type engine struct {
	file        file
	lockTimeout time.Duration
	health      health
	writer      *writer // nil if the store is read-only
	readers     *readers
	remove      func() error // removes the directory of a store in memory, else nil
	close       sync.Once
}

var _ sqlstore.Engine = (*engine)(nil)

// View implements sqlstore.Engine.
func (e *engine) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.health.explain(e.readers.view(ctx, fn))
}

// Update implements sqlstore.Engine.
func (e *engine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	if e.writer == nil {
		return ErrReadOnly
	}
	return e.writer.update(ctx, fn)
}

// Close implements sqlstore.Engine.
func (e *engine) Close() (err error) {
	e.close.Do(func() {
		if e.writer != nil {
			e.writer.stop()
		}
		afterClose, lost := e.health.beforeClose()
		err = errors.Join(lost, e.readers.close())
		if e.writer != nil {
			err = errors.Join(err, e.writer.close(lost == nil && !e.health.usesForeignWAL()))
		}
		err = errors.Join(err, afterClose(), e.health.file.release())
		if e.remove != nil {
			err = errors.Join(err, e.remove())
		}
	})
	return err
}
