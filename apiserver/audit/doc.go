// Package audit writes the audit log: who changed what in an account, when, and
// from which request.
//
// NewStore wraps a store. It observes the changes of each transaction and appends the
// log entries in the same transaction, so that there is no change without an entry
// and no entry without a change. Operations need no code for it. A transaction that
// is not part of an API operation calls Attribute.
//
// Package store declares the entries and reads them. The package imports store, and
// the contract (api) for the names of its operations. The service passes a function
// that returns the origin of a context's request.
//
// Stability: none. The package is exported for other packages of this repository only.
package audit
