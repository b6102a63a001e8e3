// Package pace ends what a slow client keeps the server waiting for.
//
// net/http bounds the time for a whole answer or not at all. An export takes as
// long as an honest reader needs, and one that nobody reads holds a read
// transaction of the store for ever; so an answer has no bound here, but a pace.
//
// The package knows net/http alone.
package pace
