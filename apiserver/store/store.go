package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Store is the service's database. It is safe for concurrent use, also by several processes.
type Store interface {
	// View runs fn on one consistent snapshot.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn in a serializable transaction. If and only if it returns nil, the writes
	// are committed and survive the end of the process and, as far as the engine guarantees it,
	// of the machine. An error of fn is returned unchanged.
	//
	// fn may run more than once: it must change nothing but tx and the variables that it sets
	// again in each run. It must not wait, because other updates wait for it.
	//
	// An engine may run updates of different accounts at the same time. fn is alone on an
	// account from its first call of tx with the account's id, and on the account of InAccount
	// from its beginning. Data that no account owns, such as the AuthorizationVersion, may change
	// until the update ends.
	Update(ctx context.Context, fn func(Tx) error) error

	// Ping returns an error if the database can't be read, or is known not to be writable.
	Ping(ctx context.Context) error

	// Usage returns the size of the database and the number of its connections.
	Usage(ctx context.Context) (Usage, error)

	// ClockOffset returns by how much the database server's clock is ahead of this machine's; 0 for a
	// file.
	ClockOffset(ctx context.Context) (time.Duration, error)

	// Snapshot keeps the current content in memory and returns a function that restores it. The
	// observer is not called.
	Snapshot(ctx context.Context) (restore func(context.Context) error, err error)

	// Close waits for updates in flight. No method may be called after it.
	Close() error
}

// Read runs fn on one snapshot, as [Store].View does, and returns its results.
func Read[T any](ctx context.Context, s Store, fn func(Reader) (T, error)) (v T, err error) {
	err = s.View(ctx, func(r Reader) (err error) {
		v, err = fn(r)
		return err
	})
	return v, err
}

// ClockTolerance is how much the clocks of the machines on a database, its own included, may differ. A time that is
// further in the future comes from a wrong clock: no server derives its own times from it.
const ClockTolerance = 30 * time.Second

// Usage is the size of a database and the number of its connections.
type Usage struct {
	// Bytes is the size of the database's files.
	Bytes int64
	// Connections counts this process's connections in use, MaxConnections all that it may open;
	// both are 0 for a file.
	Connections, MaxConnections int
}

// accountKey is the key of InAccount. The rules of operations set it, and the engines and the audit log
// read it. The account is not a parameter of Update, because only updates of operations know it, and
// each wrapper of a Store would pass it on.
type accountKey struct{}

// InAccount returns a context for updates that are alone on an account from their beginning, also
// when they read without the account's id.
func InAccount(ctx context.Context, accountID string) context.Context {
	return context.WithValue(ctx, accountKey{}, accountID)
}

// AccountOf returns the account that InAccount set, or "".
func AccountOf(ctx context.Context) string {
	id, _ := ctx.Value(accountKey{}).(string)
	return id
}

// Object is an object of an account, such as a [Mailbox].
type Object interface {
	Identity() Identity
}

// Identity identifies an object in the audit log, with its name at the time of a change.
type Identity struct {
	AccountID, Type, ID, Name string
}

// Change is a change of an object by a transaction.
type Change struct {
	// Before is nil for a creation, After for a deletion.
	Before, After Object
	// Fields lists the changed fields if the store updates an object because an address was
	// deleted, and is nil for a caller's change.
	Fields []string
}

// ErrNotFound is returned if an object does not exist in the account.
var ErrNotFound = errors.New("not found")

// ErrUnavailable is in the error of a transaction that failed because of the disk, the file or
// the server. The same transaction may succeed later.
var ErrUnavailable = errors.New("the database is unavailable")

// ErrLocked is in the error of a transaction that waited too long for another's lock. It is an
// ErrUnavailable that says nothing about the next transaction.
var ErrLocked = fmt.Errorf("%w for this transaction", ErrUnavailable)

// ErrInUse is returned if another process uses a database that requires exclusive access.
var ErrInUse = errors.New("another process uses the database")

// ErrClosed is returned by the methods of a store after Close.
var ErrClosed = errors.New("the store is closed")

// ErrReadOnly is returned by Update of a store that was opened for reading only.
var ErrReadOnly = errors.New("the store is open for reading only")

// LostError means that a database's files were replaced after they were opened, or do not contain
// the data that was written to them. It is an ErrUnavailable.
type LostError struct {
	Path string
	// Reason completes "the database file …" with the event and the advice.
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: the database file %s %s", ErrUnavailable, e.Path, e.Reason)
}

func (e *LostError) Unwrap() error { return ErrUnavailable }

// ErrNewerSchema is returned if a newer version of the program migrated the database.
var ErrNewerSchema = errors.New("the database was written by a newer version of this program")

// SchemaError is returned by Ping if the program can't work with the database's schema any longer.
type SchemaError struct{ Err error }

func (e *SchemaError) Error() string { return e.Err.Error() }

func (e *SchemaError) Unwrap() error { return e.Err }

// ExistsError is returned if an object with the same unique values exists.
type ExistsError struct {
	// ID is the existing object's.
	ID string
}

func (e *ExistsError) Error() string { return fmt.Sprintf("exists already as %s", e.ID) }

// FutureTimes describes the rows of a table with a time that a server whose clock was ahead wrote.
type FutureTimes struct {
	Table  string    `json:"table"`
	Rows   int       `json:"rows"`
	Latest time.Time `json:"latest"`
}

// Slice selects Limit objects after the first Offset, by creation time and then by id.
type Slice struct {
	Offset, Limit int
}

// All is the slice of every object.
var All = Slice{Limit: math.MaxInt32}

// Within restricts a read to some workspaces and domains if Restricted is set.
type Within struct {
	Restricted          bool
	Workspaces, Domains []string
}

// Scope is an account, a workspace or a domain.
type Scope struct {
	Type, ID string
}

// Provisioning is a status that changes at a known time. It is computed on each read.
type Provisioning struct {
	// Status is the status from ReadyAt on, Until the status before. ReadyAt may be zero.
	Status, Until string
	ReadyAt       time.Time
}

// At returns the status at a time.
func (p Provisioning) At(now time.Time) string {
	if !p.ReadyAt.IsZero() && now.Before(p.ReadyAt) {
		return p.Until
	}
	return p.Status
}
