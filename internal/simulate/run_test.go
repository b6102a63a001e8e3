package simulate

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// run is one run of Terraform: a plan walk, or an apply walk.
type run struct {
	name    string
	account int
	rand    *rand.Rand
	// faults is the percentage of requests with a fault.
	faults int
	// killAt is the number of the request at which the provider is killed; 0 for
	// never.
	killAt int
	// requests counts the requests, and faulted the requests with a fault.
	requests, faulted int
	// incomplete reports that a set has left out mailboxes that could not be created.
	incomplete bool
	// appeared reports that a zone has left records alone that its plan did not know.
	appeared bool
	// warned reports that a diagnostic was a warning.
	warned bool
	// slept is how long the client has slept during one call of the provider.
	slept time.Duration
	// killed stops background reads of a killed provider.
	killed atomic.Bool
	// yield, if set, runs another run between two calls of the provider.
	yield func()

	// parallelism is how many calls the walk makes at a time. A walk with one call at a time
	// is deterministic.
	parallelism int
	// mu is locked while a walk with several calls does anything but call the provider.
	mu sync.Mutex
}

// schedule runs tasks. next returns one that can run now, or nil until another has ended.
func (r *run) schedule(next func() func()) {
	if r.parallelism < 2 {
		for task := next(); task != nil; task = next() {
			task()
		}
		return
	}
	ended := sync.NewCond(&r.mu)
	running := 0
	var cause any // of a panic, such as a finding
	for {
		var task func()
		if cause == nil && running < r.parallelism {
			task = next()
		}
		switch {
		case task != nil:
			running++
			go func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				defer func() {
					if c := recover(); c != nil {
						cause = c
					}
					running--
					ended.Signal()
				}()
				task()
			}()
		case running > 0:
			ended.Wait()
		case cause != nil:
			panic(cause)
		default:
			return
		}
	}
}

// hold begins a walk, which ends when the result is called.
func (r *run) hold() func() {
	if r.parallelism < 2 {
		return func() {}
	}
	r.mu.Lock()
	return r.mu.Unlock
}

// release lets other tasks run during a call of the provider, until the result is called.
func (r *run) release() func() {
	if r.parallelism < 2 {
		return func() {}
	}
	r.mu.Unlock()
	return r.mu.Lock
}
