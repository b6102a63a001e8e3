package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Case identifies a history: its seed and the steps to run.
type Case struct {
	Seed uint64
	// Steps are the numbers of the steps to run; nil runs all.
	Steps []int
	// NoFaults omits all faults and crashes.
	NoFaults bool
	// Postgres runs several replicas on PostgreSQL instead of one service on SQLite.
	Postgres bool
}

// ParseCase parses the format of Case.String, such as 4711 or 4711/0,3/nofaults.
func ParseCase(s string) (c Case, err error) {
	parts := strings.Split(strings.TrimSpace(s), "/")
	if c.Seed, err = strconv.ParseUint(parts[0], 10, 64); err != nil {
		return c, fmt.Errorf("seed %q: expected a number, or number/steps as a finding prints it", s)
	}
	for _, part := range parts[1:] {
		switch part {
		case "nofaults":
			c.NoFaults = true
			continue
		case "postgres":
			c.Postgres = true
			continue
		}
		c.Steps = []int{}
		for n := range strings.SplitSeq(part, ",") {
			if n == "" {
				continue
			}
			step, err := strconv.Atoi(n)
			if err != nil {
				return c, fmt.Errorf("seed %q: %q is not a step", s, n)
			}
			c.Steps = append(c.Steps, step)
		}
	}
	return c, nil
}

// String returns the case as make simulate accepts it.
func (c Case) String() string {
	out := strconv.FormatUint(c.Seed, 10)
	if c.Steps != nil {
		out += "/" + strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Steps), " ", ","), "[]")
	}
	if c.NoFaults {
		out += "/nofaults"
	}
	if c.Postgres {
		out += "/postgres"
	}
	return out
}

// Result is the result of a history.
type Result struct {
	// Finding describes the violated invariant; empty if there is none.
	Finding string
	// Kind is the first part of the finding, such as "bought too often".
	Kind string
	// Log lists all events, runs and requests.
	Log []string
	// Unconverged is the acceptable reason for which a history does not converge.
	Unconverged string
}

// Run runs a history and returns its result. It is deterministic.
func Run(c Case) (result Result) {
	h := newHistory(c)
	defer h.close()
	defer func() {
		result.Log = h.report.lines
		if cause := recover(); cause != nil {
			f, ok := cause.(finding)
			if !ok {
				panic(cause)
			}
			result.Kind, result.Finding = f.kind, f.Error()
		}
	}()
	for i := range h.steps() {
		h.report.logf("step %d", i)
		h.step(rand.New(rand.NewPCG(c.Seed, uint64(i)+1))) //nolint:gosec // must be reproducible
	}
	result.Unconverged = h.converge()
	return result
}

// Shrink returns a smaller history with a finding of the same kind. It omits the faults,
// then one step after the other. It never turns a new finding into a known defect.
func Shrink(c Case, found Result) Case {
	fails := func(c Case) bool {
		r := Run(c)
		return r.Kind == found.Kind && r.knownDefect() == found.knownDefect()
	}
	if c.Steps == nil {
		h := newHistory(c)
		steps := slices.Collect(h.steps())
		h.close()
		if smaller := (Case{c.Seed, steps, c.NoFaults, c.Postgres}); fails(smaller) {
			c = smaller
		}
	}
	if smaller := (Case{c.Seed, c.Steps, true, c.Postgres}); !c.NoFaults && fails(smaller) {
		c = smaller
	}
	for i := range slices.Backward(c.Steps) {
		if smaller := (Case{c.Seed, slices.Delete(slices.Clone(c.Steps), i, i+1), c.NoFaults, c.Postgres}); fails(smaller) {
			c = smaller
		}
	}
	return c
}
