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

var errStaleLog = errors.New("its content was replaced, and the -wal file beside it belongs to the content before; open it for writing once, and that file is moved out of the way")

// settleLog looks at the log that is beside a file before anything opens the two:
// SQLite would write a log that was left behind by other content into it. Such a log
// is moved out of the way, if mayMove, and its new path returned.
func settleLog(path string, mayMove bool) (moved string, err error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil // opening it says what is wrong
	}
	h, err := hold(real)
	if err != nil {
		return "", nil // opening it says what is wrong
	}
	defer func() { err = errors.Join(err, h.release()) }()
	for n := 1; ; n++ {
		logInfo, statErr := os.Stat(real + "-wal")
		now, l, err := examine(h, real+"-wal")
		if err != nil || statErr != nil || len(l.headers) == 0 {
			return "", ignoreMissing(errors.Join(err, statErr))
		}
		fits := l.fits(now.header)
		switch {
		case fits && l.completes(now):
			return "", nil
		case n < contentLooks: // another process may be in the middle of a checkpoint
			time.Sleep(contentPause)
		case fits || now.size == 0:
			return "", fmt.Errorf("it was truncated to %d bytes; restore a backup, or move the -wal and -shm files beside it away too if there is none", now.size)
		case !mayMove:
			return "", errStaleLog
		case isAt(real+"-wal", logInfo):
			return setAside(real+"-wal", real+"-shm")
		}
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func asideName(log string) string {
	return fmt.Sprintf("%s.replaced-%s", log, time.Now().UTC().Format("20060102T150405.000000"))
}

// copyAside moves the content of an open log to a file beside its path.
func copyAside(log *os.File, path string) (to string, err error) {
	to = asideName(path)
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, io.NewSectionReader(log, 0, math.MaxInt64))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return to, log.Truncate(0)
}

// setAside renames a log that belongs to content which was replaced, and removes its
// index, which SQLite makes anew from a log.
func setAside(log, index string) (to string, err error) {
	to = asideName(log)
	if err := os.Rename(log, to); err != nil {
		return "", ignoreMissing(err)
	}
	return to, ignoreMissing(os.Remove(index))
}
