package commands

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// Execute runs the command line of this process, and returns its exit code.
func Execute(releaseVersion string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // before the cancel, so that a second signal ends the program at once
		cancel()
	}()
	p := cli.Program{Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, ReleaseVersion: releaseVersion}
	return Run(ctx, p)
}
