// Package apiserver is the account management API as a service: it implements
// every operation of package api on a store.
//
// New builds a Service from Options. Handler serves it over HTTP, Client calls
// it in process without a socket, Close ends it. The rules of each resource are
// in the file of its name; what all operations share is in pipeline.go (the way
// of a request), credential.go, oauth.go and caller.go (who calls and what they
// may do), ratelimit.go, receive.go (request bodies and their memory), references.go
// (objects that a body names) and transact.go (writes and Idempotency-Keys), and
// package audit, which logs every change. Messages
// leave by mailqueue.go; a fixture is read, planned, loaded and dumped by the
// files of that name.
//
// The package imports the contract (api), the syntax packages beside it, route, audit,
// strictjson and the store's interface; it links no database and no exporter.
package apiserver
