// Command mutate changes packages at random places and prints the changes that no test
// notices: `make mutate` runs it.
//
// A mutant is one small change: a condition is always true or always false, an operand of
// && or || is dropped, a comparison includes or excludes equality, a call or an assignment
// is left out, a function returns zero values, or + n and - n add nothing.
//
// All mutants of a run are compiled once, each behind a switch that an environment variable
// turns on, in an overlay: the work tree is not changed. A first run of the tests records
// the mutants that each test program reaches; then the programs run once for each mutant.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

func main() {
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "seed of the choice of mutants")
	n := flag.Int("n", 20, "mutants in each package")
	tests := flag.String("tests", "", "further packages, separated by spaces, whose tests run against each mutant")
	slow := flag.Duration("slow", 10*time.Second, "time limit of a test program beyond three times that of the unchanged code")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, flag.Args(), strings.Fields(*tests), *seed, *n, *slow); err != nil {
		fmt.Fprintf(os.Stderr, "Failed: %v\n", err)
		os.Exit(1)
	}
}

// program is a compiled test package.
type program struct {
	pkg, dir, path string
	limit          time.Duration
	reached        map[int]bool
}

func run(ctx context.Context, out io.Writer, patterns, tests []string, seed uint64, n int, slow time.Duration) error {
	if len(patterns) == 0 {
		return errors.New("name the packages to mutate, such as ./apiserver/maildns")
	}
	pkgs, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.LoadSyntax}, patterns...)
	if err != nil {
		return err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return errors.New("the packages do not compile")
	}
	scratch, err := os.MkdirTemp("", "mailhost-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	random := rand.New(rand.NewPCG(seed, 0))
	var drawn []mutant
	overlay := map[string]string{}
	for _, pkg := range pkgs {
		sites := findMutants(pkg)
		random.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
		sites = sites[:min(n, len(sites))]
		slices.SortFunc(sites, func(a, b mutant) int { return a.id - b.id })
		fmt.Fprintf(out, "%s: %d mutants\n", pkg.PkgPath, len(sites))
		for i := range sites {
			sites[i].id = len(drawn) + i + 1
		}
		drawn = append(drawn, sites...)
		if err := writeOverlay(overlay, scratch, pkg, sites); err != nil {
			return err
		}
		tests = append(tests, pkg.PkgPath)
	}
	programs, err := build(ctx, out, scratch, overlay, tests)
	if err != nil {
		return err
	}
	return report(ctx, out, programs, drawn, slow, seed)
}

// build compiles the test programs with the overlay, and runs each on the unchanged code.
func build(ctx context.Context, out io.Writer, scratch string, overlay map[string]string, tests []string) (programs []*program, err error) {
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	list, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.NeedName | packages.NeedFiles}, tests...)
	if err != nil {
		return nil, err
	}
	for i, pkg := range list {
		p := &program{pkg: pkg.PkgPath, dir: pkg.Dir, path: filepath.Join(scratch, fmt.Sprintf("%d.test", i)), reached: map[int]bool{}}
		if output, err := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", file, "-o", p.path, p.pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w\n%s", p.pkg, err, output)
		}
		if _, err := os.Stat(p.path); err != nil {
			fmt.Fprintf(out, "%s has no tests\n", p.pkg)
			continue
		}
		log := p.path + ".reached"
		begun := time.Now()
		if output, err := p.run(ctx, 10*time.Minute, "MUTANT_LOG="+log); err != nil {
			return nil, fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", p.pkg, err, output)
		}
		p.limit = 3 * time.Since(begun)
		if text, err := os.ReadFile(log); err == nil {
			for id := range strings.FieldsSeq(string(text)) {
				if n, err := strconv.Atoi(id); err == nil {
					p.reached[n] = true
				}
			}
		}
		programs = append(programs, p)
	}
	// A quick program that kills a mutant saves the run of a slow one.
	slices.SortFunc(programs, func(a, b *program) int { return int(a.limit - b.limit) })
	return programs, nil
}

// run runs the tests in their folder, with one more environment variable.
func (p *program) run(ctx context.Context, limit time.Duration, variable string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, "-test.short", "-test.failfast", "-test.paniconexit0", "-test.timeout="+limit.String())
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, append(os.Environ(), variable), time.Second
	return cmd.CombinedOutput()
}

// report runs the tests against each mutant and prints the mutants that survive.
func report(ctx context.Context, out io.Writer, programs []*program, drawn []mutant, slow time.Duration, seed uint64) error {
	counts := map[string]int{}
	for _, m := range drawn {
		outcome := "not reached"
		for _, p := range programs {
			if !p.reached[m.id] {
				continue
			}
			outcome = "survived"
			if _, err := p.run(ctx, p.limit+slow, fmt.Sprintf("MUTANT=%d", m.id)); err != nil {
				outcome = "killed"
				break
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		counts[outcome]++
		if outcome != "killed" {
			fmt.Fprintf(out, "%s: %s, %s: %s\n", m.position, outcome, m.change, m.code)
		}
	}
	fmt.Fprintf(out, "seed %d: %d of %d mutants killed (%d %%)", seed, counts["killed"], len(drawn), 100*counts["killed"]/max(1, len(drawn)))
	delete(counts, "killed")
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(out, ", %d %s", counts[outcome], outcome)
	}
	fmt.Fprintln(out)
	return nil
}
