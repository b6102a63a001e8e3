package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps everything that the service knows. It is safe for concurrent use,
// and several processes may have the same database open.
type Store interface {
	// View runs fn on one consistent snapshot.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn alone: no other Update of any process runs between its
	// reads and its writes. All that it wrote is kept if and only if Update
	// returns nil, and then it survives the end of the process and, as far as
	// the engine promises it, of the machine. fn may run more than once and must
	// have no effects but those on tx and on variables that it sets anew each
	// time. An error of fn is returned as it is. Unrelated updates may share a
	// commit; what fn does is awaited by others, so it must not wait itself.
	Update(ctx context.Context, fn func(Tx) error) error

	// Ping reports whether the database answers, and keeps what is written as far
	// as that is known without writing.
	Ping(ctx context.Context) error

	// Close waits for the updates under way. Nothing may be called after it.
	Close() error
}

// Reader reads one snapshot. It is valid until the function that got it returns,
// and for one goroutine.
type Reader interface {
	AccountReader
	ServiceAccountReader
	AuthorizationReader
	MasterPasswordReader
	ForwardingReader
	MailboxReader
	DomainReader
	DNSRecordReader
	DedicatedIPReader
	IdempotencyReader
	AuditReader
	MailReader
}

// Tx reads and writes in one transaction. Like Reader, it is for one goroutine.
//
// A Create method sets the object's CreatedAt and UpdatedAt to its CreatedAt, or
// to just after the newest object of the kind in the account if that is not
// earlier. Creation times therefore ascend strictly in the order of commits, so that
// reading page after page misses no object. It returns an *ExistsError if something
// unique exists already.
//
// An Update method reads an object, calls change with it, and writes it if change
// has changed it. change must leave alone the object's id, account and creation time
// and what the method names beside. It replaces slices and pointers and does not
// write through them. If it returns an error, nothing is written and Update returns
// that error. An Update method returns the object as it was written, and with an
// *ExistsError the object as it would have been written.
type Tx interface {
	Reader
	// Observe registers a function that is called after each change of the
	// transaction to an object of an account, in place of an earlier function. It
	// may read from the transaction.
	Observe(fn func(Change))
	AccountWriter
	ServiceAccountWriter
	AuthorizationWriter
	MasterPasswordWriter
	ForwardingWriter
	MailboxWriter
	DomainWriter
	DNSRecordWriter
	DedicatedIPWriter
	IdempotencyWriter
	FeedbackWriter
	AuditWriter
	MailWriter
	Clearer
}

// Change is what a transaction has done to an object.
type Change struct {
	// Before and After are pointers to the object, such as *Mailbox. Before is nil
	// if it was created, and After if it was deleted.
	Before, After any
	// Fields names what changed if the store updates an object by itself, because
	// an address was deleted. It is nil for a change by a method's caller.
	Fields []string
}

// ErrNotFound is returned where the named object does not exist in the account.
var ErrNotFound = errors.New("not found")

// ErrUnavailable is in the error of a transaction that failed because of the
// database's surroundings: its disk is full, or its file is read-only or was
// removed. It may succeed once that has been mended.
var ErrUnavailable = errors.New("the database is unavailable")

// LostError reports that a database's files are not those that were opened, or do not
// hold what was written to them. It is ErrUnavailable.
type LostError struct {
	Path string
	// Reason says what has happened and what to do, without the path. It follows the
	// words "the database file".
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: the database file %s %s", ErrUnavailable, e.Path, e.Reason)
}

// Unwrap makes it ErrUnavailable.
func (e *LostError) Unwrap() error { return ErrUnavailable }

// ErrNewerSchema is returned on opening a database that a newer version of this
// program has migrated.
var ErrNewerSchema = errors.New("the database was written by a newer version of this program")

// ExistsError says that something unique exists already.
type ExistsError struct {
	// ID is the existing object's.
	ID string
}

func (e *ExistsError) Error() string { return fmt.Sprintf("exists already as %s", e.ID) }

// Slice is the part of a list to read: Limit objects after the first Offset,
// ordered by creation time and then by id.
type Slice struct {
	Offset, Limit int
}

// Within restricts a reading to what lies in some workspaces or domains. The
// zero value restricts nothing.
type Within struct {
	Restricted          bool
	Workspaces, Domains []string
}

// Scope is what a master password or a forwarding rule applies to: the account,
// a workspace or a domain.
type Scope struct {
	Type, ID string
}

// Provisioning is a state that ends by itself at a known time. It is computed
// when it is read, so that no timer has to run.
type Provisioning struct {
	// Status is the state from ReadyAt on, or at once where ReadyAt is zero.
	Status string
	// Until is the state before ReadyAt.
	Until string
	// ReadyAt is when Status begins.
	ReadyAt time.Time
}

// At returns the state at a time.
func (p Provisioning) At(now time.Time) string {
	if !p.ReadyAt.IsZero() && now.Before(p.ReadyAt) {
		return p.Until
	}
	return p.Status
}
