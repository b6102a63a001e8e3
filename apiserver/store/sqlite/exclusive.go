package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// OpenExclusive opens an existing store whose file nobody else can open until it is closed, this
// process included, or returns store.ErrInUse. Everything is in the file, whose log is empty, so
// that it can be replaced. Transactions must not be nested.
func OpenExclusive(ctx context.Context, path string) (*sqlstore.Store, error) {
	path, err := existingFile(path)
	if err != nil {
		return nil, err
	}
	with := Options{}.withDefaults().toWrite()
	with.pragmas = append([]string{"locking_mode = exclusive"}, with.pragmas...) // before the first read
	s, _, err := openSession(ctx, path, with, Options{})
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
	return sqlstore.New(&exclusive{session: s}, &dialect), nil
}

// exclusive is an engine with one connection, for all views and updates.
type exclusive struct {
	mu      sync.Mutex
	session *session // nil after Close
}

var _ sqlstore.Engine = (*exclusive)(nil)

// View implements sqlstore.Engine.
func (e *exclusive) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.Update(ctx, fn)
}

// Update implements sqlstore.Engine.
func (e *exclusive) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session == nil {
		return store.ErrClosed
	}
	if err := e.session.exec(`BEGIN`); err != nil {
		return err
	}
	end := `ROLLBACK` // also if fn panics
	defer func() { err = errors.Join(err, e.session.exec(end)) }()
	t := &transaction{session: e.session}
	if err = fn(ctx, t); err == nil {
		err = t.failed
	}
	if err == nil {
		end = `COMMIT`
	}
	return err
}

// Close implements sqlstore.Engine.
func (e *exclusive) Close() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session != nil {
		err, e.session = e.session.close(), nil
	}
	return err
}
