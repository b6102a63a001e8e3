package core

import (
	"errors"
	"math/rand/v2"
	"slices"
)

// node is a step of a walk.
type node struct {
	visit func() Diagnostics
	// after contains the nodes to visit before this one.
	after        map[*node]bool
	done, failed bool
}

// ErrCycle is Terraform's own error for a graph with a cycle.
var ErrCycle = errors.New("the graph has a cycle")

// walk visits each node once, in a random order if after allows several. A node after a
// failed node fails without a visit. The walk ends if the provider is killed.
func walk(r *rand.Rand, nodes []*node) error {
	var errs []error
	for {
		var ready []*node
		skipped := false
		for _, n := range nodes {
			blocked, failed := false, false
			for before := range n.after {
				blocked = blocked || !before.done
				failed = failed || before.failed
			}
			switch {
			case n.done || blocked:
			case failed:
				n.done, n.failed, skipped = true, true, true
			default:
				ready = append(ready, n)
			}
		}
		switch {
		case len(ready) > 0:
			n := ready[r.IntN(len(ready))]
			err := n.visit().Err()
			n.done, n.failed, errs = true, err != nil, append(errs, err)
			if errors.Is(err, ErrKilled) {
				return errors.Join(errs...)
			}
		case !skipped:
			if slices.ContainsFunc(nodes, func(n *node) bool { return !n.done }) {
				errs = append(errs, ErrCycle)
			}
			return errors.Join(errs...)
		}
	}
}
