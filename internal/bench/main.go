// Command bench compares the product with others on this machine and prints one table:
// `make bench` runs it.
//
// Each figure is a ratio of two measurements of the same run, taken in turn (A B A B), so that the machine's
// speed and load cancel out. The other side is the CLI's built-in terraform_data, the server PocketBase,
// SQLite for PostgreSQL, or a target in seconds. The table shows a target for each ratio but no verdict.
//
// PocketBase is built from Go's module proxy in a temporary module; if the build fails, its rows report
// that. Everything but the table is written to a temporary folder.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
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
	rounds      int
	set, single int           // mailboxes in a set, and as single resources
	large, many int           // mailboxes of the large accounts
	load        time.Duration // of each load on a server
	offline     bool
}

// bench is a run of the command.
type bench struct {
	options
	cli, root, scratch string
	rows               []row
	begun              time.Time
}

// part is a part of the table that can run alone.
type part struct {
	name, about string
	run         func(*bench, context.Context) error
}

var parts = []part{
	{"set", "a set of mailboxes against terraform_data", (*bench).compareSet},
	{"single", "single mailboxes against terraform_data", (*bench).compareSingle},
	{"server", "mailhostd against PocketBase", (*bench).comparePocketBase},
	{"postgres", "mailhostd on PostgreSQL against SQLite", (*bench).comparePostgres},
	{"large", "large accounts on both engines", (*bench).measureLarge},
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each comparison")
	flag.IntVar(&o.set, "set", 10_000, "mailboxes in a set")
	flag.IntVar(&o.single, "single", 2000, "mailboxes as resources of their own")
	flag.IntVar(&o.large, "large", 100_000, "mailboxes of the large account")
	flag.IntVar(&o.many, "many", 1_000_000, "mailboxes of the very large account")
	flag.DurationVar(&o.load, "load", 3*time.Second, "duration of each load on a server")
	flag.BoolVar(&o.offline, "offline", false, "build nothing from Go's module proxy")
	cli := flag.String("cli", "terraform", "Terraform or OpenTofu")
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	rows := flag.String("rows", "", "parts to run, separated by commas; default: "+strings.Join(names, ","))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *cli, strings.Split(cmp.Or(*rows, strings.Join(names, ",")), ",")); err != nil {
		fmt.Fprintf(os.Stderr, "Failed: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, cli string, names []string) error {
	b, err := newBench(ctx, o, ".", cli)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return fmt.Errorf("there are no rows %q", name)
		}
		b.measure(ctx, parts[i])
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out, err := exec.CommandContext(ctx, b.cli, "version").Output()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("# Benchmarks\n\n%s, %d CPUs, %s/%s, %s. A ratio is the median over the rounds of ours by the\nother side, measured in turn. Only ratios can be compared between runs.\n\n%s",
		bytes.SplitN(out, []byte("\n"), 2)[0], runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, time.Now().Format(time.DateOnly), table(b.rows))
	fmt.Println(text)
	return errors.Join(os.MkdirAll("bin", 0o755), os.WriteFile(filepath.Join("bin", "bench.md"), []byte(text), 0o644))
}

// newBench builds the provider and mailhostd of the repository at root.
func newBench(ctx context.Context, o options, root, cli string) (*bench, error) {
	b := &bench{options: o, begun: time.Now()}
	var errs [3]error
	b.cli, errs[0] = exec.LookPath(cli)
	b.root, errs[1] = filepath.Abs(root)
	b.scratch, errs[2] = os.MkdirTemp("", "mailhost-bench-")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	b.progress("building the provider and mailhostd")
	return b, errors.Join(
		os.MkdirAll(b.path("home"), 0o700),
		localcli.Install(ctx, b.root, b.scratch),
		goCommand(ctx, b.root, "build", "-trimpath", "-o", b.path("mailhostd"), "./apiserver/cmd/mailhostd"),
	)
}

// path returns a path below the temporary folder.
func (b *bench) path(name string) string { return filepath.Join(b.scratch, name) }

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "[%4.0f s] %s\n", time.Since(b.begun).Seconds(), fmt.Sprintf(format, args...))
}

// measure runs a part. If it fails, a row reports the error.
func (b *bench) measure(ctx context.Context, p part) {
	b.progress("%s: %s", p.name, p.about)
	if err := p.run(b, ctx); err != nil {
		reason := []rune(strings.Join(strings.Fields(err.Error()), " "))
		b.rows = append(b.rows, row{measure: p.about, missing: string(reason[:min(len(reason), 160)])})
	}
}

// compare measures two sides in turn and adds a row for each of their values.
func (b *bench) compare(ours, against func() ([]float64, error), rows ...row) error {
	for range b.rounds {
		a, err := ours()
		if err != nil {
			return err
		}
		c, err := against()
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].ours, rows[i].against = append(rows[i].ours, a[i]), append(rows[i].against, c[i])
		}
	}
	b.rows = append(b.rows, rows...)
	return nil
}

// pocketBase is the compared module, in the last version that Go 1.26 builds.
const pocketBase = "github.com/pocketbase/pocketbase@v0.39.9"

// pocketBaseMain is the program of the temporary module that embeds PocketBase.
//
//go:embed testdata/pocketbase/main.go
var pocketBaseMain []byte

// buildPocketBase builds PocketBase into the temporary folder.
func (b *bench) buildPocketBase(ctx context.Context) error {
	if b.offline {
		return errors.New("PocketBase is not built: -offline is set")
	}
	b.progress("building PocketBase")
	dir := b.path("module")
	err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "main.go"), pocketBaseMain, 0o600))
	for _, args := range [][]string{{"mod", "init", "bench"}, {"get", pocketBase}, {"mod", "tidy"}, {"build", "-trimpath", "-o", b.path("pocketbase"), "."}} {
		err = cmp.Or(err, goCommand(ctx, dir, args...))
	}
	return err
}

// goCommand runs the go command in a module. Its error contains the last line of the output.
func goCommand(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("go %s: %w: %s", args[0], err, lines[len(lines)-1])
	}
	return nil
}
