package simulate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
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

// TestSimulate runs a hundred histories (ten with -short), or the histories of the flags.
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

// seeds returns n cases with ascending seeds, beginning with first.
func seeds(first Case, n int) []Case {
	cases := make([]Case, n)
	for i := range cases {
		cases[i] = first
		cases[i].Seed += uint64(i)
	}
	return cases
}

// simulate runs histories. With the flags, each history is repeated with their seeds; histories
// that differ only in the seed run once.
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

// TestChaos runs histories in which one fault hits a fifth of all requests: each fault with a service
// that honours Idempotency-Keys, a service that ignores them, and a service with the published
// operations only. With -short each fault runs with one of these services.
func TestChaos(t *testing.T) {
	var cases []Case
	for i, f := range faults {
		for mode := range 3 {
			if testing.Short() && mode != i%3 {
				continue
			}
			cases = append(cases, Case{Seed: 1, Fault: f.name, NoKeys: mode == 1, Published: mode == 2})
		}
	}
	simulate(t, cases...)
}

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
	// incomplete means that a set omitted mailboxes that could not be created.
	incomplete bool
	// appeared means that a zone kept records that its plan did not know.
	appeared bool
	// slept is the client's sleep during one call of the provider.
	slept time.Duration
	// killed stops background reads of a killed provider.
	killed atomic.Bool
	// yield, if set, runs another run between two calls of the provider.
	yield func()
}

// finding is a violated invariant. It is the value of a panic, so that the history ends
// with it.
type finding struct{ kind, text string }

func (f finding) Error() string { return f.kind + ": " + f.text }

// report collects the log of a history, and the secrets that no diagnostic may contain.
type report struct {
	lines []string
	// changedOutside reports whether an external change came between the current plan
	// and its apply.
	changedOutside bool
	secrets        map[string]string // description by value
}

func (r *report) logf(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// fail ends the history with a finding.
func (r *report) fail(kind, format string, args ...any) {
	panic(finding{kind, fmt.Sprintf(format, args...)})
}

// secret registers a secret value with its description.
func (r *report) secret(what, v string) {
	if len(v) < 4 {
		return
	}
	if r.secrets == nil {
		r.secrets = map[string]string{}
	}
	r.secrets[v] = what
}

// checkDiagnostic fails if a diagnostic contains a secret.
func (r *report) checkDiagnostic(addr string, d *tfprotov6.Diagnostic) {
	all := d.Summary + "\n" + d.Detail
	for v, what := range r.secrets {
		if strings.Contains(all, v) {
			r.fail("secret in a diagnostic", "%s: %s: %s", addr, what, strings.ReplaceAll(all, v, "[secret]"))
		}
	}
}

// knownDefects are findings of unfixed defects, as regular expressions. They end a history without failing a test.
// Don't add a defect that you can fix.
var knownDefects = []struct{ finding, reason string }{
	{`\.acquisition: state`, "Terraform compares the plan with an account that another run or an external change has modified since"},
	{`inconsistent final plan: .*\.(auto_renew|redirect_url|redirect_mode|workspace_id|ttl): state .*, after an external change`, "the same, for a setting that an adoption keeps"},
	{"destroy and create, after an external change", "the same, for the domain that a rule or a master password refers to by name"},
	{"one object at two addresses: forwarding", "a plan can't distinguish a second address that adopts a rule of the state from the replacement of its resource"},
	{"one object at two addresses: dns_record", "the same for a record"},
	{"one object at two addresses: domain", "a plan with -target adopts a domain that the state has at an address outside the target, because the provider does not see that address"},
	{"by an adoption", "a set adopts a mailbox whose other resource the plan could not see, as -target left it out, or the domain was unknown"},
	{"as a tainted object too", "Terraform's plan of a tainted object does not name it, so that the plan can't see that it deletes the object for another address of the state"},
	{"and which -target left out", "the same, for an object that a targeted import block names and replaces"},
}

// knownDefect returns the reason of a known defect, or "".
func (r Result) knownDefect() string {
	for _, d := range knownDefects {
		if regexp.MustCompile(d.finding).MatchString(r.Finding) {
			return d.reason
		}
	}
	return ""
}
