package simulate

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// run is one run of Terraform: a plan walk, or an apply walk.
type run struct {
	name    string
	account int
	rand    *rand.Rand
	// faults is the percentage of requests with a fault: with fault, or with any if it is nil.
	faults int
	fault  *fault
	// killAt is the number of the request at which the provider is killed; 0 for
	// never.
	killAt int
	// requests counts the requests, and faulted the requests with a fault.
	requests, faulted int
	// incomplete reports that a set has left out mailboxes that could not be created.
	incomplete bool
	// appeared reports that a zone has left records alone that its plan did not know.
	appeared bool
	// slept is how long the client has slept during one call of the provider.
	slept time.Duration
	// killed stops background reads of a killed provider.
	killed atomic.Bool
	// yield, if set, runs another run between two calls of the provider.
	yield func()
}
