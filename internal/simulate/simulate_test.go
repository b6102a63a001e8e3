package simulate

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

var (
	seedFlag = flag.String("seed", "", "a history in the format of a finding, or the seed of the first of -runs histories, and of each fault of TestChaos")
	runsFlag = flag.Int("runs", 1, "how many histories to run with -seed, or with each fault of TestChaos")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // garbage collection takes most of the time of short histories
	os.Exit(m.Run())
}

// TestSimulate runs a hundred histories (ten with -short), or those of the flags.
func TestSimulate(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 10
	}
	simulate(t, seeds(Case{Seed: 1}, n)...)
}

// TestSimulateReplicas runs six histories on PostgreSQL, or a tenth as many as the flags say.
func TestSimulateReplicas(t *testing.T) {
	if *seedFlag != "" && *runsFlag == 1 {
		t.Skip("one history is that of TestSimulate")
	}
	postgrestest.URL(t) // or the test is skipped
	simulate(t, seeds(Case{Seed: 1, Postgres: true}, 6)...)
}

// seeds returns n cases with the seeds from that of the first on.
func seeds(first Case, n int) []Case {
	cases := make([]Case, n)
	for i := range cases {
		cases[i] = first
		cases[i].Seed += uint64(i)
	}
	return cases
}

// simulate runs histories. With the flags, each is repeated with their seeds; those that differ
// in nothing but the seed run once.
func simulate(t *testing.T, cases ...Case) {
	postgresTest = t
	if *seedFlag != "" {
		first, err := ParseCase(*seedFlag)
		assert.NilError(t, err)
		var all []Case
		for _, c := range cases {
			n := *runsFlag
			if c.Postgres {
				n = max(1, n/10)
			}
			next := first
			if c.Postgres || c.Fault != "" {
				next = c
				next.Seed = first.Seed
			}
			if len(all) == 0 || c.Fault != "" {
				all = append(all, seeds(next, n)...)
			}
		}
		cases = all
	}
	results := runAll(cases)
	unconverged := map[string]int{}
	for i, r := range results {
		if len(cases) == 1 {
			t.Log("\n" + strings.Join(r.Log, "\n"))
		}
		check(t, cases[i], r)
		unconverged[r.Unconverged]++
		unconverged[r.knownDefect()]++
	}
	delete(unconverged, "")
	t.Logf("%d histories; those that did not converge: %v", len(cases), unconverged)
}

// check fails for a finding and prints the shrunk history.
func check(t *testing.T, c Case, r Result) {
	t.Helper()
	if r.Finding == "" || r.knownDefect() != "" && *runsFlag > 1 || r.knownDefect() != "" && *seedFlag == "" {
		return
	}
	small := Shrink(c, r)
	t.Errorf("%s\n\nRepeat it with:\n  make simulate SEED=%s\n", Run(small).Finding, small)
}

// runAll runs histories on all processors.
func runAll(cases []Case) []Result {
	results := make([]Result, len(cases))
	next := make(chan int, len(cases))
	for i := range cases {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = Run(cases[i])
			}
		})
	}
	workers.Wait()
	return results
}

// TestDeterminism checks that a seed always produces the same log.
func TestDeterminism(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		c := Case{Seed: 500 + seed}
		first, again := Run(c), Run(c)
		if !slices.Equal(first.Log, again.Log) || first.Finding != again.Finding {
			for i := range first.Log {
				assert.Assert(t, i < len(again.Log) && first.Log[i] == again.Log[i], "%s: line %d differs:\n%s\n%s", c, i, first.Log[i], again.Log[min(i, len(again.Log)-1)])
			}
			t.Fatalf("%s: %d lines, then %d", c, len(first.Log), len(again.Log))
		}
	}
}
