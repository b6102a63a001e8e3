package sqlite

import (
	"context"
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// OpenExclusive opens an existing store whose file nobody else can open until it is closed, this
// process included. It returns store.ErrInUse without waiting, because a server that uses the file
// does so for long. Everything is in the file, whose log is empty, so that it can be replaced.
// Transactions must not be nested.
func OpenExclusive(ctx context.Context, path string) (*sqlstore.Store, error) {
	path, err := existingFile(path)
	if err != nil {
		return nil, err
	}
	opts := Options{exclusive: true}.withDefaults()
	opts.LockTimeout = 0
	s, opened, err := openSession(ctx, path, opts.toWrite(), opts)
	if isBusy(err) || errors.Is(err, errReplaced) {
		err = store.ErrInUse
	}
	if err == nil {
		if _, err = s.checkpoint(); err != nil {
			err = errors.Join(err, s.close())
		}
	}
	if err != nil {
		return nil, openError(path, err)
	}
	return sqlstore.New(newEngine(path, s, opened, opts), &dialect), nil
}
