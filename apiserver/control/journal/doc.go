// Package journal records what a service was asked and what it answered, for
// tests that check what a client sends.
//
// A Journal's Middleware goes into apiserver.Options, around that of package
// fault. What it keeps holds no secret: no credential, no Idempotency-Key, no
// one-time link, no secret member of a body; see Entry.
//
// The package imports apiserver, the contract (api) and package fault, of which it
// records what acted. What it records is in memory.
package journal
