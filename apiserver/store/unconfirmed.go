package store

import "time"

// UnconfirmedCreate is an object that a run of a configuration has created, and that no
// later plan has seen in the state. Package idempotency describes what becomes of it.
type UnconfirmedCreate struct {
	AccountID string
	// Origin identifies the configuration with its state, and Run the process that sent the
	// create. Both are the client's.
	Origin, Run string
	// ObjectType and ObjectID are the object's.
	ObjectType, ObjectID string
	// Caller is a hash of the caller.
	Caller []byte
	// Lost reports that a plan of the whole configuration has not seen the object.
	Lost      bool
	ExpiresAt time.Time
}

// UnconfirmedCreateReader reads unconfirmed creates.
type UnconfirmedCreateReader interface {
	// UnconfirmedCreates returns those of an origin that have not expired at now: of a type
	// unless that is empty, in the order of types and ids.
	UnconfirmedCreates(accountID, origin, objectType string, now time.Time) ([]UnconfirmedCreate, error)
	// UnconfirmedCreate returns that of one object, if it has not expired at now.
	UnconfirmedCreate(accountID, origin, objectType, objectID string, now time.Time) (UnconfirmedCreate, error)
	// HasUnconfirmedCreates reports whether an origin has any that has not expired at now.
	HasUnconfirmedCreates(accountID, origin string, now time.Time) (bool, error)
}

// UnconfirmedCreateWriter writes unconfirmed creates.
type UnconfirmedCreateWriter interface {
	// AddUnconfirmedCreates adds a copy of c for each object id, and replaces what there is
	// for the object.
	AddUnconfirmedCreates(c UnconfirmedCreate, objectIDs []string) error
	// ConfirmCreates deletes those of an origin with a type and ids.
	ConfirmCreates(accountID, origin, objectType string, objectIDs []string) error
	// ConfirmRun deletes those of an origin's run.
	ConfirmRun(accountID, origin, run string) error
	// MarkCreatesLost sets Lost in all of an origin.
	MarkCreatesLost(accountID, origin string) error
	// DeleteExpiredCreates deletes those of an account that expired before a time.
	DeleteExpiredCreates(accountID string, before time.Time) error
}
