// Package audit writes the audit log: who changed what in an account, when, and
// from which request.
//
// NewStore puts the log around a store. Whatever a transaction of that store
// changes is entered into the log in the same transaction, so that there is no
// change without its entry and no entry without its change; no operation has to
// do anything for it. A transaction outside of the API's operations says with
// Attribute what it does.
//
// The entries and how they are read are package store's. The package imports
// that and the contract (api) for the names of its operations; whose request a
// context is, the service tells it.
package audit
