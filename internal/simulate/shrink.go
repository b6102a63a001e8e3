package simulate

import "slices"

// Shrink looks for a smaller history that ends with a finding of the same kind, and
// not with a known one if the finding is not: it leaves out the faults, then one step
// after the other.
func Shrink(c Case, found Result) Case {
	fails := func(c Case) bool {
		r := Run(c)
		return r.Kind == found.Kind && r.open() == found.open()
	}
	if c.Steps == nil {
		h := newHistory(c)
		steps := slices.Collect(h.steps())
		h.close()
		if smaller := (Case{c.Seed, steps, c.Calm}); fails(smaller) {
			c = smaller
		}
	}
	if calm := (Case{c.Seed, c.Steps, true}); !c.Calm && fails(calm) {
		c = calm
	}
	for i := range slices.Backward(c.Steps) {
		if smaller := (Case{c.Seed, slices.Delete(slices.Clone(c.Steps), i, i+1), c.Calm}); fails(smaller) {
			c = smaller
		}
	}
	return c
}
