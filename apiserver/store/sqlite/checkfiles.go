package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"
)

var (
	errOnlyLog    = errors.New("it is missing, and the -wal file beside it has changes that belong to it; put it back, or restore a backup and move the -wal file away")
	errDamagedLog = errors.New("the -wal file beside it, which has the latest changes, is damaged, truncated or missing; put it back or restore a backup, or move the -wal and -shm files away to go on without these changes")
	errStaleWAL   = errors.New("its content was replaced, and the -wal file beside it belongs to the content before; open it for writing once, and that file is moved out of the way")
)

// checkFiles returns an error if a file can't be opened for a reason that is found
// without SQLite, which might write to the file or to its log before it finds the same.
// It also checks that the log belongs to the file: SQLite would write a log that other
// content has left behind into it. Such a log is renamed if the file is to be written,
// and its new path returned.
func checkFiles(path string, write bool) (movedLog string, err error) {
	_, logErr := os.Stat(path + "-wal") // first: a database that is being created has no log before the file
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && logErr == nil {
		return "", errOnlyLog
	}
	if err != nil {
		return "", nil // opening it reports what is wrong
	}
	f, err := openShared(real)
	if err != nil {
		return "", nil // opening it reports what is wrong
	}
	defer func() { err = errors.Join(err, f.release()) }()
	if now, err := readState(f.File); err != nil {
		return "", err
	} else if err := now.checkProgram(); err != nil {
		return "", err
	}
	if write && f.unwritable != nil { // SQLite would give the files beside it the same mode
		return "", &unwritableError{f.unwritable}
	}
	for n := 1; ; n++ {
		walInfo, statErr := os.Stat(real + "-wal")
		if !isAt(real, f.info) {
			return "", errReplaced
		}
		var done committed
		index, err := f.walIndex(real + "-shm")
		if err == nil {
			done, err = readCommitted(index) // before the log, which grows
		}
		if err != nil {
			return "", err
		}
		now, w, err := inspect(f, real+"-wal")
		if err == nil && (w.damaged || w.lacks(done)) {
			if n == inspections {
				return "", errDamagedLog
			}
			time.Sleep(inspectionPause) // another process may be closing it, or writing its header
			continue
		}
		if err != nil || statErr != nil || len(w.headers) == 0 {
			return "", ignoreMissing(errors.Join(err, statErr))
		}
		belongs := w.belongsTo(now.header)
		switch {
		case belongs && w.completes(now):
			return "", nil
		case n < inspections: // another process may be in the middle of a checkpoint
			time.Sleep(inspectionPause)
		case belongs || now.size == 0:
			return "", fmt.Errorf("it was truncated to %d bytes; restore a backup, or move the -wal and -shm files beside it away too if there is none", now.size)
		case !write:
			return "", errStaleWAL
		case isAt(real+"-wal", walInfo):
			return renameAside(real+"-wal", real+"-shm")
		}
	}
}

// renameAside renames a log that belongs to other content, and removes its index,
// which SQLite creates again from a log.
func renameAside(wal, index string) (to string, err error) {
	to = asideName(wal)
	if err := os.Rename(wal, to); err != nil {
		return "", ignoreMissing(err)
	}
	return to, ignoreMissing(os.Remove(index))
}

// moveContentAside moves the content of an open log to a new file beside its path.
func moveContentAside(wal *os.File, path string) (to string, err error) {
	to = asideName(path)
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, io.NewSectionReader(wal, 0, math.MaxInt64))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return to, wal.Truncate(0)
}

func asideName(wal string) string {
	return fmt.Sprintf("%s.replaced-%s", wal, time.Now().UTC().Format("20060102T150405.000000"))
}
