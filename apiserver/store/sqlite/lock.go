package sqlite

import (
	"context"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// FileLock keeps everybody else out of a file: no process can open it, this one included.
// Who replaces the file unlocks it afterwards, so that those who wait for it find that out.
type FileLock struct {
	session *session
	// Version identifies the content: every commit that writes changes it.
	Version uint32
}

// LockFile locks an existing file that nobody has open; otherwise the error is
// store.ErrInUse.
func LockFile(ctx context.Context, path string) (*FileLock, error) {
	s, err := connect(ctx, path, settings{wait: pollTimeout, pragmas: []string{"locking_mode = exclusive"}})
	if err == nil {
		l := &FileLock{session: s}
		if err = s.exec(`BEGIN IMMEDIATE`); err == nil {
			l.Version, err = readUserVersion(ctx, s)
		}
		if err == nil {
			err = s.checkPath(path)
		}
		if err == nil {
			return l, nil
		}
		err = errors.Join(err, s.close())
	}
	if isBusy(err) || errors.Is(err, errReplaced) {
		err = store.ErrInUse
	}
	return nil, openError(path, err)
}

// Unlock lets others open the file again. It does nothing the second time, or on nil.
func (l *FileLock) Unlock() (err error) {
	if l != nil && l.session != nil {
		err, l.session = l.session.close(), nil
	}
	return err
}

// FileVersion returns what FileLock.Version would be, of a file that others may have open.
func FileVersion(ctx context.Context, path string) (version uint32, err error) {
	s, err := connect(ctx, path, file{path: path}.readOnly(defaultLockTimeout))
	if err != nil {
		return 0, openError(path, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return readUserVersion(ctx, s)
}
