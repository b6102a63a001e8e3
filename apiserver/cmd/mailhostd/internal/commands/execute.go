package commands

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// The garbage collector lets the heap grow to four times what is in use, because that is
// a few megabytes, and works harder from 48 MiB on. The program itself and SQLite need as
// much again.
const (
	gcPercent   = 300
	memoryLimit = 48 << 20
)

// tuneGC sets the garbage collector, except for what GOGC and GOMEMLIMIT set.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// Execute runs the command line of this process, and returns its exit code.
func Execute(releaseVersion string) int {
	tuneGC()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // the next signal ends the program at once
		cancel()
	}()
	p := cli.Program{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ReleaseVersion: releaseVersion}
	return Run(ctx, p)
}
