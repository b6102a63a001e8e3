package simulate

import (
	"fmt"
	"maps"
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
	// Fault is the name of the only fault, which hits a fifth of the requests. There are no
	// crashes then.
	Fault string
	// With NoKeys the service ignores Idempotency-Keys, and with Published it also offers the
	// published operations only.
	NoKeys, Published bool
}

// flags are the parts of a case's name without a value.
func (c *Case) flags() map[string]*bool {
	return map[string]*bool{"nofaults": &c.NoFaults, "postgres": &c.Postgres, "nokeys": &c.NoKeys, "published": &c.Published}
}

// ParseCase parses the format of Case.String, such as 4711 or 4711/0,3/nofaults.
func ParseCase(s string) (c Case, err error) {
	parts := strings.Split(strings.TrimSpace(s), "/")
	if c.Seed, err = strconv.ParseUint(parts[0], 10, 64); err != nil {
		return c, fmt.Errorf("seed %q: expected a number, or number/steps as a finding prints it", s)
	}
	for _, part := range parts[1:] {
		if flag, ok := c.flags()[part]; ok {
			*flag = true
			continue
		}
		if faultNamed(part) != nil {
			c.Fault = part
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
	if c.Fault != "" {
		out += "/" + c.Fault
	}
	for _, name := range slices.Sorted(maps.Keys(c.flags())) {
		if *c.flags()[name] {
			out += "/" + name
		}
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
	try := func(smaller Case) {
		if fails(smaller) {
			c = smaller
		}
	}
	smaller := c
	if c.Steps == nil {
		h := newHistory(c)
		smaller.Steps = slices.Collect(h.steps())
		h.close()
		try(smaller)
	}
	if smaller = c; !c.NoFaults {
		smaller.NoFaults = true
		try(smaller)
	}
	for i := range slices.Backward(c.Steps) {
		smaller = c
		smaller.Steps = slices.Delete(slices.Clone(c.Steps), i, i+1)
		try(smaller)
	}
	return c
}
