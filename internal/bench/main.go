package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// options are the sizes of a run.
type options struct {
	rounds int
	// set is the number of mailboxes in a set, count how many the set is compared with as
	// single resources. A CLI's time for an apply of single resources grows with the
	// square of their number.
	set, count int
	// single is the number of resources in a plan beside hashicorp/null's, distant and
	// limited how many are planned at a distance and applied under a rate limit.
	single, distant, limited int
	// million is the number of mailboxes of the large account.
	million int
	// load is how long each load on a server lasts.
	load time.Duration
	// null is a build of hashicorp/null; without it, one is built.
	null    string
	offline bool
}

// bench is a run of the command.
type bench struct {
	options
	cli, root, scratch string
	rows               []row
	progress           func(format string, args ...any)
}

// part is a part of the table that can be run alone.
type part struct {
	name, about string
	run         func(*bench, context.Context) error
}

var parts = []part{
	{"floor", "a set of mailboxes against terraform_data", (*bench).compareFloor},
	{"count", "a set of mailboxes against count", (*bench).compareCount},
	{"distant-set", "a set of mailboxes at a distance", (*bench).compareDistantSet},
	{"distant", "single mailboxes at a distance", (*bench).compareDistant},
	{"null", "single mailboxes against hashicorp/null", (*bench).compareNull},
	{"limit", "single mailboxes under a rate limit", (*bench).compareLimit},
	{"server", "mailhostd against PocketBase", (*bench).compareServer},
	{"postgres", "mailhostd on PostgreSQL against SQLite", (*bench).comparePostgres},
	{"million", "a large account", (*bench).compareMillion},
	{"start", "the provider's start", (*bench).compareStart},
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each comparison")
	flag.IntVar(&o.set, "set", 10_000, "mailboxes in a set")
	flag.IntVar(&o.count, "count", 2000, "mailboxes in a set that is compared with count")
	flag.IntVar(&o.single, "single", 5000, "single mailboxes compared with hashicorp/null")
	flag.IntVar(&o.distant, "distant", 1000, "single mailboxes at a distance")
	flag.IntVar(&o.limited, "limited", 1000, "single mailboxes under a rate limit")
	flag.IntVar(&o.million, "million", 1_000_000, "mailboxes of the large account")
	flag.DurationVar(&o.load, "load", 3*time.Second, "duration of each load on a server")
	flag.StringVar(&o.null, "null", "", "a build of hashicorp/null; without it one is built from Go's module proxy")
	flag.BoolVar(&o.offline, "offline", false, "build nothing from Go's module proxy")
	cli := flag.String("cli", "", "Terraform or OpenTofu; default: terraform or tofu on PATH")
	rows := flag.String("rows", "", "parts to run, separated by commas; default: all of "+strings.Join(partNames(), ","))
	out := flag.String("out", filepath.Join("bin", "bench.md"), "file to write the table to")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *cli, *rows, *out); err != nil {
		fmt.Fprintf(os.Stderr, "Failed: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, cli, rows, out string) error {
	chosen, err := choose(rows)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, o, ".", cli)
	if err != nil {
		return err
	}
	defer b.close()
	title, err := b.title(ctx)
	if err != nil {
		return err
	}
	if err := b.measure(ctx, chosen); err != nil {
		return err
	}
	text := title + "\n" + table(b.rows)
	fmt.Println(text)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	b.progress("the table is in %s", out)
	return os.WriteFile(out, []byte(text), 0o644)
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// choose returns the named parts, all of them for "".
func choose(names string) (chosen []part, err error) {
	if names == "" {
		return parts, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		at := slices.Index(partNames(), name)
		if at < 0 {
			return nil, fmt.Errorf("there are no rows %q; choose from %s", name, strings.Join(partNames(), ", "))
		}
		chosen = append(chosen, parts[at])
	}
	return chosen, nil
}

// newBench prepares a run for the repository at root, with the named CLI or one on PATH.
func newBench(ctx context.Context, o options, root, cli string) (*bench, error) {
	b := &bench{options: o}
	begun := time.Now()
	b.progress = func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "[%4.0f s] %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
	}
	var err error
	if b.cli, err = findCLI(cli); err != nil {
		return nil, err
	}
	if b.root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if b.scratch, err = os.MkdirTemp("", "mailhost-bench-"); err != nil {
		return nil, err
	}
	for _, dir := range []string{"bin", "home"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(b.scratch, dir), 0o700))
	}
	if err = errors.Join(err, b.build(ctx)); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// close removes what the run has made.
func (b *bench) close() error { return os.RemoveAll(b.scratch) }

// findCLI returns the path of the named CLI, or of one on PATH.
func findCLI(name string) (path string, err error) {
	for _, candidate := range []string{"terraform", "tofu"} {
		if path, err = exec.LookPath(cmp.Or(name, candidate)); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("no CLI: %w; name Terraform or OpenTofu in TF_CLI", err)
}

// title returns a heading that names the CLI and the machine.
func (b *bench) title(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, b.cli, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", b.cli, err)
	}
	product, number, err := localcli.ParseVersion(string(out))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`# Benchmarks

%s %s, %d CPUs, %s/%s, %s. A ratio is the median over the rounds of ours by the other side,
measured in turn; the range is that of the rounds. Only ratios can be compared between runs.
`, product, number, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, time.Now().Format(time.DateOnly)), nil
}

// measure runs the parts. A part that fails has a row that says so, and the others run
// all the same.
func (b *bench) measure(ctx context.Context, chosen []part) error {
	for _, p := range chosen {
		b.progress("%s: %s", p.name, p.about)
		err := p.run(b, ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.missing(p.about, err)
		}
	}
	return nil
}

// missing adds a row for what can't be measured.
func (b *bench) missing(measure string, err error) {
	const longest = 160
	b.progress("%s: %v", measure, err)
	reason := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(reason) > longest {
		reason = append(reason[:longest], '…')
	}
	b.rows = append(b.rows, row{measure: measure, missing: string(reason)})
}

// alternate measures two sides in turn: A B A B. Each side returns one value or several,
// whose samples are returned in the same order.
func alternate(rounds int, ours, against func() ([]float64, error)) (a, b [][]float64, err error) {
	for range rounds {
		for _, side := range []struct {
			measure func() ([]float64, error)
			samples *[][]float64
		}{{ours, &a}, {against, &b}} {
			values, err := side.measure()
			if err != nil {
				return nil, nil, err
			}
			for i, v := range values {
				if len(*side.samples) == i {
					*side.samples = append(*side.samples, nil)
				}
				(*side.samples)[i] = append((*side.samples)[i], v)
			}
		}
	}
	return a, b, nil
}
