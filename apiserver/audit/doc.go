// Package audit writes the audit log: the subject, time and request of each change in an account.
//
// NewStore wraps a store. It observes the changes of each transaction and appends the log entries
// in the same transaction, so that every change gets an entry and every entry belongs to a change.
// Operations need no code for the log. A transaction outside of API operations calls Attribute.
//
// Package store declares the entries and reads them. This package imports store, and package api
// for the names of operations. The service passes a function that returns the origin of a context's
// request.
//
// Stability: none. The package is exported for other packages of this repository only.
package audit
